/// The fields of a request that decide who answers it.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub host: Option<&'a [u8]>,
    pub accept_encoding: Option<&'a [u8]>,
    pub if_none_match: Option<&'a [u8]>,
    pub if_modified_since: Option<&'a [u8]>,
    pub connection: Option<&'a [u8]>,
    pub content_length: Option<&'a [u8]>,
    pub offers_dictionary: bool,
    /// A field that only Node answers, or one that is there twice.
    pub asks: bool,
    /// A field because of which nobody but Node can tell where the request ends.
    pub opens: bool,
}

impl<'a> Fields<'a> {
    pub fn read(lines: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut fields = Self::default();
        for (name, value) in lines {
            fields.note(name, value);
        }
        fields
    }

    /// Lengths tell most names apart.
    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        let is = |lower_case: &str| name.eq_ignore_ascii_case(lower_case.as_bytes());
        match name.len() {
            4 if is("host") => self.keep_one(|fields| &mut fields.host, value),
            5 if is("range") => self.asks = true,
            6 if is("expect") => self.opens = true,
            7 if is("upgrade") => self.opens = true,
            8 if is("if-match") || is("if-range") => self.asks = true,
            10 if is("connection") => self.keep_one_or_open(|fields| &mut fields.connection, value),
            13 if is("if-none-match") => self.keep_one(|fields| &mut fields.if_none_match, value),
            14 if is("content-length") => {
                self.keep_one_or_open(|fields| &mut fields.content_length, value)
            }
            15 if is("accept-encoding") => {
                self.keep_one(|fields| &mut fields.accept_encoding, value)
            }
            // Node's parser reads it as `Connection`.
            16 if is("proxy-connection") => self.opens = true,
            17 if is("if-modified-since") => {
                self.keep_one(|fields| &mut fields.if_modified_since, value)
            }
            17 if is("transfer-encoding") => self.opens = true,
            19 if is("if-unmodified-since") => self.asks = true,
            20 if is("available-dictionary") => self.offers_dictionary = true,
            _ => {}
        }
    }

    fn keep_one(&mut self, place: fn(&mut Self) -> &mut Option<&'a [u8]>, value: &'a [u8]) {
        self.asks |= place(self).replace(value).is_some();
    }

    fn keep_one_or_open(&mut self, place: fn(&mut Self) -> &mut Option<&'a [u8]>, value: &'a [u8]) {
        self.opens |= place(self).replace(value).is_some();
    }
}
