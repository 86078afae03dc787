//! Whether the program was started without standard output, as by `>&-`.
//!
//! Before `main` the standard library opens `/dev/null` in its place, so that results would vanish without an error. It must
//! be found out earlier, by a function that the system calls while it loads the program.

/// From now on a standard output that was closed is refused.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn refuse_if_closed() {
    if before_main::WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        taugraph_io::refuse_stdout();
    }
}

/// Elsewhere a write to it fails.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn refuse_if_closed() {}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        let is_open = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_ok();
        WAS_CLOSED.store(!is_open, Ordering::Relaxed);
    }

    // SAFETY: sections of this name hold pointers to functions without arguments, and this is one. It makes one system call and
    // stores a flag: it allocates nothing and needs nothing that is set up later.
    #[allow(unsafe_code)]
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;
}
