use std::io;

use rustix::io::Errno;

/// The name of a failure of the system, as Node has it in `error.code`.
pub fn error_code(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS) => "EACCES",
        Some(Errno::ADDRINUSE) => "EADDRINUSE",
        Some(Errno::ADDRNOTAVAIL) => "EADDRNOTAVAIL",
        Some(Errno::AFNOSUPPORT) => "EAFNOSUPPORT",
        // A thread that cannot begin.
        Some(Errno::AGAIN) => "EAGAIN",
        Some(Errno::BADF) => "EBADF",
        Some(Errno::INVAL) => "EINVAL",
        Some(Errno::LOOP) => "ELOOP",
        Some(Errno::MFILE) => "EMFILE",
        Some(Errno::NAMETOOLONG) => "ENAMETOOLONG",
        Some(Errno::NFILE) => "ENFILE",
        Some(Errno::NOENT) => "ENOENT",
        Some(Errno::NOMEM) => "ENOMEM",
        Some(Errno::NOTDIR) => "ENOTDIR",
        Some(Errno::NOTSOCK) => "ENOTSOCK",
        Some(Errno::OPNOTSUPP) => "EOPNOTSUPP",
        Some(Errno::PERM) => "EPERM",
        Some(Errno::ROFS) => "EROFS",
        // Only a path can be too long for a socket without the system having been asked.
        None if error.kind() == io::ErrorKind::InvalidInput => "ENAMETOOLONG",
        _ => "EIO",
    }
}
