# Answers under paths that are no files vary by Accept and Sec-Fetch-Mode: a navigation gets the page of the application,
# a script a 404. Two classes of requests in the place of hundreds of different values: one stored page for each coding.
# Leave it out where an application behind (--ssr) reads these fields.
sub vcl_recv {
    if (req.http.Sec-Fetch-Mode == "navigate" || (!req.http.Sec-Fetch-Mode && req.http.Accept ~ "text/html")) {
        set req.http.Accept = "text/html";
        set req.http.Sec-Fetch-Mode = "navigate";
    } else {
        set req.http.Accept = "*/*";
        set req.http.Sec-Fetch-Mode = "no-cors";
    }
}
