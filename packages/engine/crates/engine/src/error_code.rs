use std::io;

use rustix::io::Errno;

/// Returns the system error code, as in `error.code` of Node.
pub fn error_code(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS) => "EACCES",
        Some(Errno::ADDRINUSE) => "EADDRINUSE",
        Some(Errno::ADDRNOTAVAIL) => "EADDRNOTAVAIL",
        Some(Errno::AFNOSUPPORT) => "EAFNOSUPPORT",
        // `pthread_create` returns this code.
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
        // socket2 returns this error without a system call if the path of a unix socket is too long.
        None if error.kind() == io::ErrorKind::InvalidInput => "ENAMETOOLONG",
        _ => "EIO",
    }
}
