//! What keeps Python alive when memory runs out.
//!
//! Rust ends the process where an allocation fails; in Python that would take everything else with it. So some address space is kept aside,
//! which costs no memory. The first allocation that fails gives it up and asks every run to stop; until they do, they live on it. Tables
//! that would not fit into it are allocated by the library in a way that can fail.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Bytes kept aside.
const SIZE: usize = 64 << 20;
/// Larger requests are refused: what is left must serve all others.
const LARGE: usize = SIZE / 4;

static BALLAST: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static IS_EXHAUSTED: AtomicBool = AtomicBool::new(false);

const fn layout() -> Layout {
    match Layout::from_size_align(SIZE, 16) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    }
}

/// Keeps the ballast aside, if it is not; whether it is now.
#[allow(unsafe_code)]
pub fn hold() -> bool {
    if BALLAST.load(Ordering::Acquire).is_null() {
        // SAFETY: the layout has a size.
        let made = unsafe { System.alloc(layout()) };
        if made.is_null() {
            return false;
        }
        if BALLAST.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: it was allocated above with the same layout, and nobody else has seen it.
            unsafe { System.dealloc(made, layout()) };
        }
    }
    IS_EXHAUSTED.store(false, Ordering::Relaxed);
    true
}

/// Whether it had to be given up: runs should stop.
pub fn is_exhausted() -> bool {
    IS_EXHAUSTED.load(Ordering::Relaxed)
}

/// Gives it up for a request that failed; whether that may help.
#[allow(unsafe_code)]
fn give_up(request: usize) -> bool {
    if request > LARGE {
        return false;
    }
    let held = BALLAST.swap(null_mut(), Ordering::AcqRel);
    if !held.is_null() {
        IS_EXHAUSTED.store(true, Ordering::Relaxed);
        // SAFETY: `hold` allocated it with this layout, and the swap gave it to this thread alone.
        unsafe { System.dealloc(held, layout()) };
    }
    // Another thread may have given it up a moment ago.
    is_exhausted()
}

/// The system's allocator, with the ballast behind it.
pub struct WithBallast;

// SAFETY: every call is one of the system's allocator with the same arguments; a failed one may be repeated.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for WithBallast {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let made = unsafe { System.alloc(layout) };
        if made.is_null() && give_up(layout.size()) { unsafe { System.alloc(layout) } } else { made }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let made = unsafe { System.alloc_zeroed(layout) };
        if made.is_null() && give_up(layout.size()) { unsafe { System.alloc_zeroed(layout) } } else { made }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let made = unsafe { System.realloc(old, layout, new_size) };
        if made.is_null() && give_up(new_size) {
            unsafe { System.realloc(old, layout, new_size) }
        } else {
            made
        }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}

// Compiled by itself and run by scripts/miri.sh: the module as a whole can only be loaded by Python.
#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since there is one ballast.
    #[test]
    #[allow(unsafe_code)]
    fn the_ballast_is_given_up_once_and_held_again() {
        assert!(hold() && hold() && !is_exhausted());
        assert!(!give_up(LARGE + 1) && !is_exhausted(), "too large a request leaves it alone");
        // Threads whose allocations fail at the same time: all are told to try again, and it is freed once.
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert!(give_up(16)));
            }
        });
        assert!(is_exhausted() && BALLAST.load(Ordering::Acquire).is_null());
        assert!(hold() && !is_exhausted());
        let (small, large) = (Layout::from_size_align(24, 8).unwrap(), 1 << 12);
        // SAFETY: sizes are not zero, and every block is used within its size and freed once with its last layout.
        unsafe {
            let zeros = WithBallast.alloc_zeroed(small);
            assert!((0..24).all(|place| zeros.add(place).read() == 0));
            zeros.write(7);
            let moved = WithBallast.realloc(zeros, small, large);
            assert_eq!(moved.read(), 7);
            moved.add(large - 1).write(1);
            WithBallast.dealloc(moved, Layout::from_size_align(large, 8).unwrap());
            let plain = WithBallast.alloc(small);
            plain.write(1);
            WithBallast.dealloc(plain, small);
        }
        assert!(give_up(16), "for the next who asks");
    }
}
