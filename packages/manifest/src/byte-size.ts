/** A size in bytes, or a text with a unit: `65536`, `'64k'`, `'1.5 MB'`. */
export type ByteSize = number | string
