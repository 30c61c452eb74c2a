use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::socket::KeepsDescriptor;
use crate::tuning::BACKLOG;

/// The address of a listening socket.
#[derive(Debug)]
pub enum Address {
    /// A TCP port of one or all addresses of this machine, including IPv6 if available.
    Tcp {
        /// `None` for all addresses.
        host: Option<IpAddr>,
        /// 0 selects a free port.
        port: u16,
    },
    /// A unix socket.
    Path {
        path: PathBuf,
        /// The permissions of the file.
        mode: u32,
    },
    /// A socket that another program has opened.
    Descriptor {
        /// Its number in this process.
        descriptor: RawFd,
        sharing: Sharing,
    },
}

/// How other processes use the same socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharing {
    /// Whether all processes that accept from the socket stop together.
    pub is_own: bool,
    /// Whether engines of other processes accept from the socket.
    pub is_shared: bool,
}

/// A listening socket. Dropping it removes the file of a unix socket.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    sharing: Sharing,
    file: Option<SocketFile>,
}

#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Listener {
    /// Binds the address and listens.
    pub fn open(address: Address) -> io::Result<Self> {
        Self::bind(address)?.start_listening()
    }

    /// Binds the address without listening. Clients cannot connect yet.
    pub fn bind(address: Address) -> io::Result<Self> {
        let exclusive = Sharing {
            is_own: true,
            is_shared: false,
        };
        let (socket, sharing, file) = match address {
            Address::Tcp {
                host: Some(host),
                port,
            } => (bind(SocketAddr::new(host, port))?, exclusive, None),
            Address::Tcp { host: None, port } => (bind_all(port)?, exclusive, None),
            Address::Path { path, mode } => {
                let (socket, file) = bind_path(path, mode)?;
                (socket, exclusive, Some(file))
            }
            Address::Descriptor {
                descriptor,
                sharing,
            } => (adopt(descriptor)?, sharing, None),
        };
        Ok(Self {
            socket,
            sharing,
            file,
        })
    }

    fn start_listening(self) -> io::Result<Self> {
        self.socket.listen(BACKLOG)?;
        self.socket.set_nonblocking(true)?;
        if !self.is_unix()? {
            // Accepted sockets inherit this option.
            self.socket.set_tcp_nodelay(true)?;
        }
        Ok(self)
    }

    /// Returns the IP address and the port. For a unix socket, returns its path and 0.
    pub fn address(&self) -> io::Result<(String, u16)> {
        let address = self.socket.local_addr()?;
        Ok(address.as_socket().map_or_else(
            || {
                let path = address.as_pathname().unwrap_or(Path::new(""));
                (path.to_string_lossy().into_owned(), 0)
            },
            |address| (address.ip().to_string(), address.port()),
        ))
    }

    /// Accepts a queued connection. Returns its socket and the client's address, if it has one.
    pub fn accept(&self) -> io::Result<(OwnedFd, Option<SocketAddr>)> {
        #[cfg(target_os = "linux")]
        {
            use rustix::net::SocketFlags;
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let (socket, peer) = rustix::net::acceptfrom_with(&self.socket, flags)?;
            Ok((
                socket,
                peer.and_then(|peer| SocketAddr::try_from(peer).ok()),
            ))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let (socket, peer) = self.socket.accept()?;
            socket.set_nonblocking(true)?;
            Ok((socket.into(), peer.as_socket()))
        }
    }

    /// Returns whether a connection is queued.
    pub fn has_queued_connection(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|found| found > 0)
    }

    /// Reduces the backlog to one connection before the socket closes.
    ///
    /// Linux then ignores further connection attempts, and clients retry. When the socket closes, queued connections
    /// are reset.
    pub fn shrink_backlog(&self) {
        if cfg!(target_os = "linux") && self.sharing.is_own {
            // If this fails, the only effect is a larger backlog.
            let _ = self.socket.listen(0);
        }
    }

    pub fn is_shared(&self) -> bool {
        self.sharing.is_shared
    }

    fn is_unix(&self) -> io::Result<bool> {
        Ok(self.socket.local_addr()?.is_unix())
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl KeepsDescriptor for Arc<Listener> {}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(SocketFile { path, identity }) = &self.file
            // A newer server may have replaced the file.
            && identity_of(path).is_ok_and(|found| found == *identity)
        {
            let _ = fs::remove_file(path);
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Falls back to IPv4 without IPv6. Returns the error of IPv4, as Node does.
fn bind_all(port: u16) -> io::Result<Socket> {
    bind((Ipv6Addr::UNSPECIFIED, port).into())
        .or_else(|_| bind((Ipv4Addr::UNSPECIFIED, port).into()))
}

/// Binds a unix socket. The file never has more permissions than `mode`.
fn bind_path(path: PathBuf, mode: u32) -> io::Result<(Socket, SocketFile)> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(&path)?;
    #[cfg(target_os = "linux")]
    {
        // The file gets the permissions of the socket, minus the umask.
        rustix::fs::fchmod(&socket, Mode::from_raw_mode(mode))?;
        socket.bind(&address)?;
    }
    #[cfg(not(target_os = "linux"))]
    {
        let before = rustix::process::umask(Mode::from_raw_mode((0o777 & !mode) as _));
        let bound = socket.bind(&address);
        rustix::process::umask(before);
        bound?;
    }
    let file = SocketFile {
        identity: identity_of(&path)?,
        path,
    };
    fs::set_permissions(&file.path, Permissions::from_mode(mode))?;
    Ok((socket, file))
}

fn identity_of(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Duplicates a descriptor that JavaScript passed by number.
#[expect(unsafe_code, reason = "there is no safe function for a raw descriptor")]
fn adopt(descriptor: RawFd) -> io::Result<Socket> {
    if descriptor < 0 {
        return Err(rustix::io::Errno::BADF.into());
    }
    // SAFETY: `descriptor` is not -1. It is borrowed for one call, which duplicates it and fails if the number is not
    // open. If another thread reuses the number before or during that call, the result is a duplicate of another file.
    // This is safe, because `listen` rejects files that are not sockets.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(borrowed.try_clone_to_owned()?.into())
}
