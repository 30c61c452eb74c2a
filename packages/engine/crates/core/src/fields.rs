/// The request fields that decide whether the engine answers.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub host: Option<&'a [u8]>,
    pub accept_encoding: Option<&'a [u8]>,
    pub if_none_match: Option<&'a [u8]>,
    pub if_modified_since: Option<&'a [u8]>,
    pub connection: Option<&'a [u8]>,
    pub content_length: Option<&'a [u8]>,
    pub authorization: Option<&'a [u8]>,
    pub offers_dictionary: bool,
    /// Whether the request has a field that only Node supports, or a field twice.
    pub needs_node: bool,
    /// Whether a field prevents the engine from knowing where the request ends.
    pub has_unknown_end: bool,
}

impl<'a> Fields<'a> {
    pub fn read(lines: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut fields = Self::default();
        for (name, value) in lines {
            fields.read_field(name, value);
        }
        fields
    }

    /// Compares lengths first, because lengths distinguish most names.
    fn read_field(&mut self, name: &[u8], value: &'a [u8]) {
        let is = |lower_case: &str| name.eq_ignore_ascii_case(lower_case.as_bytes());
        match name.len() {
            4 if is("host") => self.set_field(|fields| &mut fields.host, value),
            5 if is("range") => self.needs_node = true,
            6 if is("expect") => self.has_unknown_end = true,
            7 if is("upgrade") => self.has_unknown_end = true,
            8 if is("if-match") || is("if-range") => self.needs_node = true,
            10 if is("connection") => self.set_end_field(|fields| &mut fields.connection, value),
            13 if is("authorization") => self.set_field(|fields| &mut fields.authorization, value),
            13 if is("if-none-match") => self.set_field(|fields| &mut fields.if_none_match, value),
            14 if is("content-length") => {
                self.set_end_field(|fields| &mut fields.content_length, value)
            }
            15 if is("accept-encoding") => {
                self.set_field(|fields| &mut fields.accept_encoding, value)
            }
            // Node's parser treats this field like `Connection`.
            16 if is("proxy-connection") => self.has_unknown_end = true,
            17 if is("if-modified-since") => {
                self.set_field(|fields| &mut fields.if_modified_since, value)
            }
            17 if is("transfer-encoding") => self.has_unknown_end = true,
            19 if is("if-unmodified-since") => self.needs_node = true,
            20 if is("available-dictionary") => self.offers_dictionary = true,
            _ => {}
        }
    }

    fn set_field(&mut self, slot: fn(&mut Self) -> &mut Option<&'a [u8]>, value: &'a [u8]) {
        self.needs_node |= slot(self).replace(value).is_some();
    }

    fn set_end_field(&mut self, slot: fn(&mut Self) -> &mut Option<&'a [u8]>, value: &'a [u8]) {
        self.has_unknown_end |= slot(self).replace(value).is_some();
    }
}
