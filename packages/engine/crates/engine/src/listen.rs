use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Connections that the system queues: as many as Node's.
pub const BACKLOG: i32 = 511;

/// Where an engine listens.
#[derive(Debug)]
pub enum Address {
    /// An address of this machine, or all: IPv6's too where the machine has them.
    Tcp {
        /// `None` for all.
        host: Option<IpAddr>,
        /// 0 takes a free one.
        port: u16,
    },
    /// A unix socket.
    Path {
        /// Its file.
        path: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// A socket that somebody else has opened.
    Descriptor {
        /// Its number in this process.
        descriptor: RawFd,
        /// Who else accepts from it.
        sharing: Sharing,
    },
}

/// Who else accepts connections from a socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharing {
    /// Whether all of them stop together.
    pub is_own: bool,
    /// Whether other engines do, each in a process of its own.
    pub is_shared: bool,
}

/// A socket that listens; dropped, it leaves no file behind.
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
    /// Listens.
    pub fn open(address: Address) -> io::Result<Self> {
        Self::bind(address)?.start_listening()
    }

    /// Has the address for itself: nobody can connect before somebody listens.
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
            // The sockets that it accepts have it from here.
            self.socket.set_tcp_nodelay(true)?;
        }
        Ok(self)
    }

    /// The IP address and the port; of a unix socket its path and 0.
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

    /// Takes a connection from the queue, and the client's address where it has one.
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

    /// Whether a connection waits in the queue.
    pub fn has_queued_connection(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|found| found > 0)
    }

    /// Lets Linux queue one connection instead of many before nobody listens any more: other clients try again and find
    /// nobody, where a connection that is left in the queue is reset.
    pub fn shrink_backlog(&self) {
        if cfg!(target_os = "linux") && self.sharing.is_own {
            // Not being able to costs nothing but that.
            let _ = self.socket.listen(0);
        }
    }

    /// Whether other engines accept from it, too.
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

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(SocketFile { path, identity }) = &self.file
            // A server that came after this one may have made its own.
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

/// On a machine without IPv6, that of IPv4; whose error is the one to report, as with Node.
fn bind_all(port: u16) -> io::Result<Socket> {
    bind((Ipv6Addr::UNSPECIFIED, port).into())
        .or_else(|_| bind((Ipv4Addr::UNSPECIFIED, port).into()))
}

/// Never with more permissions than these, not even for a moment.
fn bind_path(path: PathBuf, mode: u32) -> io::Result<(Socket, SocketFile)> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(&path)?;
    #[cfg(target_os = "linux")]
    {
        // The file gets the permissions of the socket, less the umask.
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

/// A descriptor of our own for a socket whose number JavaScript has.
#[expect(
    unsafe_code,
    reason = "no safe function takes the number of a descriptor"
)]
fn adopt(descriptor: RawFd) -> io::Result<Socket> {
    if descriptor < 0 {
        return Err(rustix::io::Errno::BADF.into());
    }
    // SAFETY: the number is not -1, and is used for one call, which fails where nothing is open under it. Should another
    // thread reuse it within that call, the result is a descriptor of that: `listen` refuses what is no socket.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(borrowed.try_clone_to_owned()?.into())
}
