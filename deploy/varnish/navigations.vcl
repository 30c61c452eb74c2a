# Answers under paths that are no files vary by Accept and Sec-Fetch-Mode: a navigation gets the page of the application,
# a script a 404. This makes two classes of requests instead of hundreds of different values: one stored page per coding.
# Omit it if an application behind the server (--ssr) reads these fields.
sub vcl_recv {
    if (req.http.Sec-Fetch-Mode == "navigate" || (!req.http.Sec-Fetch-Mode && (req.http.Accept ~ "text/html" ||
        # curl and link previews accept any type. For them, a dot in the last segment marks a file.
        (req.url ~ "^[^?]*/[^./?]*(\?|$)" && (!req.http.Accept || req.http.Accept ~ "\*/\*"))))) {
        set req.http.Accept = "text/html";
        set req.http.Sec-Fetch-Mode = "navigate";
    } else {
        set req.http.Accept = "*/*";
        set req.http.Sec-Fetch-Mode = "no-cors";
    }
}
