//! Returns freed memory to the system.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe function for it")]
unsafe extern "C" {
    safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

/// Returns freed memory to the system. glibc otherwise keeps what the threads have freed. Takes some milliseconds.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    malloc_trim(0);
}
