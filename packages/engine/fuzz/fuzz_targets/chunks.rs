/// Cuts bytes into pieces of these sizes, and one with the rest.
pub fn chunks<'a>(mut bytes: &'a [u8], cuts: &[u16]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for cut in cuts {
        let (chunk, rest) = bytes.split_at(usize::from(*cut).min(bytes.len()));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks.push(bytes);
    chunks
}
