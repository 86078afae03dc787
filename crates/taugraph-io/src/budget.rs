//! How many bytes readers may hold in memory.
//!
//! Whatever a reader keeps or fills is charged before it grows: with [`Budget::take`] if it stays in the result, with [`Budget::hold`]
//! if it goes away when the reader is done. A file can promise or decompress to any size; what it can take is limited here.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::faults::{self, Operation};

/// The bytes that may be held, by all readers that share it. What one of them left in its result is not there for the next.
#[derive(Debug, Clone)]
pub struct Budget(Option<Arc<Account>>);

#[derive(Debug)]
struct Account {
    allowed: u64,
    held: AtomicU64,
}

static UNLIMITED: Budget = Budget(None);

impl Budget {
    /// So many bytes; `None` is no limit.
    pub fn of(allowed: Option<u64>) -> Self {
        Self(allowed.map(|allowed| Arc::new(Account { allowed, held: AtomicU64::new(0) })))
    }

    /// No limit, except that an allocation that fails is still an error.
    pub fn unlimited() -> &'static Self {
        &UNLIMITED
    }

    /// The bytes that are not yet held.
    pub fn left(&self) -> u64 {
        match &self.0 {
            None => u64::MAX,
            Some(account) => account.allowed.saturating_sub(account.held.load(Ordering::Relaxed)),
        }
    }

    /// Charges bytes that stay. `name` is the file, for the message.
    pub fn take(&self, bytes: u64, name: &str) -> Result<()> {
        self.charge(bytes).map_err(|refusal| refusal.of(name))
    }

    /// Charges bytes until the result is dropped.
    pub fn hold(&self, bytes: u64, name: &str) -> Result<Held> {
        let mut held = Held::nothing(self);
        held.set(bytes, name)?;
        Ok(held)
    }

    /// A share of what is allowed, but not more than `most`.
    pub(crate) fn share(&self, parts: u64, most: u64) -> u64 {
        self.0.as_ref().map_or(most, |account| (account.allowed / parts).min(most))
    }

    /// Runs a reader. If it fails, there is no result, and what it took for it is free again. Readers that share a budget do not run at
    /// the same time.
    pub(crate) fn attempt<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.left();
        let result = read();
        if result.is_err() {
            self.give_back(before - self.left().min(before));
        }
        result
    }

    /// Frees bytes that were taken.
    pub(crate) fn give_back(&self, bytes: u64) {
        if let Some(account) = &self.0 {
            account.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn charge(&self, bytes: u64) -> std::result::Result<(), Refusal> {
        if bytes > 0 && faults::check(Operation::Allocate).is_err() {
            return Err(self.failed(bytes));
        }
        let Some(account) = &self.0 else { return Ok(()) };
        let fits = |held: u64| held.checked_add(bytes).filter(|&sum| sum <= account.allowed);
        match account.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(held) => Err(Refusal { needed: held.saturating_add(bytes), allowed: Some(account.allowed) }),
        }
    }

    /// The refusal if an allocation of so many bytes failed.
    pub(crate) fn failed(&self, bytes: u64) -> Refusal {
        Refusal { needed: bytes, allowed: self.0.as_ref().map(|account| account.allowed) }
    }

    /// Room for more elements, which were charged before.
    pub(crate) fn reserve<T>(&self, list: &mut Vec<T>, more: usize, name: &str) -> Result<()> {
        let grows = list.capacity() - list.len() < more;
        if grows && faults::check(Operation::Allocate).is_err() || list.try_reserve(more).is_err() {
            let bytes =
                (size_of::<T>() as u64).saturating_mul((list.len() as u64).saturating_add(more as u64));
            return Err(self.failed(bytes).of(name));
        }
        Ok(())
    }
}

/// Bytes that are charged until this is dropped.
#[derive(Debug)]
pub struct Held {
    budget: Budget,
    bytes: u64,
}

impl Held {
    pub(crate) fn nothing(budget: &Budget) -> Self {
        Self { budget: budget.clone(), bytes: 0 }
    }

    /// From now on so many bytes.
    pub(crate) fn set(&mut self, bytes: u64, name: &str) -> Result<()> {
        self.adjust(bytes).map_err(|refusal| refusal.of(name))
    }

    fn adjust(&mut self, bytes: u64) -> std::result::Result<(), Refusal> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.charge(more)?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// So many bytes more.
    pub(crate) fn add(&mut self, bytes: u64, name: &str) -> Result<()> {
        self.set(self.bytes.saturating_add(bytes), name)
    }

    /// The same for functions that know only I/O errors.
    pub(crate) fn add_io(&mut self, bytes: u64) -> io::Result<()> {
        Ok(self.adjust(self.bytes.saturating_add(bytes))?)
    }

    /// The same for [`Held::set`].
    #[cfg(feature = "parquet")]
    pub(crate) fn set_io(&mut self, bytes: u64) -> io::Result<()> {
        Ok(self.adjust(bytes)?)
    }

    /// The bytes stay charged: what they are for is in the result.
    pub(crate) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// A refusal that passes through functions that know only I/O errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    needed: u64,
    allowed: Option<u64>,
}

impl Refusal {
    pub fn of(self, name: &str) -> Error {
        Error::OverBudget { name: name.to_string(), needed: self.needed, allowed: self.allowed.unwrap_or(0) }
    }

    /// The refusal within an I/O error, if it is one.
    pub fn within(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes are more than allowed", self.needed)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::other(refusal)
    }
}

/// A source whose reader keeps `times` as many bytes as it reads: they are charged as they are read.
#[derive(Debug)]
pub struct Metered<R> {
    source: R,
    held: Held,
    times: u64,
    refusal: Option<Refusal>,
}

impl<R> Metered<R> {
    /// Charges until it is dropped.
    pub fn new(source: R, times: u64, budget: &Budget) -> Self {
        Self { source, held: Held::nothing(budget), times, refusal: None }
    }

    /// The error if a read was refused, whatever its caller made of that.
    pub fn refused(&self, name: &str) -> Option<Error> {
        self.refusal.map(|refusal| refusal.of(name))
    }

    /// The bytes stay charged.
    pub fn keep(self) {
        self.held.keep();
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        let charged = self.held.add_io(self.times.saturating_mul(length as u64));
        self.refusal = charged.as_ref().err().and_then(Refusal::within);
        charged.map(|()| length)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.source.seek(place)
    }
}

/// What a text in a list takes, twice: as it is read, and as what is made of it.
pub(crate) fn text_bytes(length: usize) -> u64 {
    let heap = if length == 0 { 0 } else { (length as u64 + 8).next_multiple_of(16).max(32) };
    2 * (size_of::<String>() as u64 + heap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_stays_and_what_is_held_goes() {
        let budget = Budget::of(Some(100));
        budget.take(40, "x").unwrap();
        let mut held = budget.hold(50, "x").unwrap();
        assert_eq!(budget.left(), 10);
        assert!(held.add(20, "x").is_err());
        held.set(60, "x").unwrap();
        held.set(5, "x").unwrap();
        assert_eq!(budget.left(), 55);
        held.keep();
        drop(budget.hold(55, "x").unwrap());
        assert_eq!(budget.left(), 55);
        budget.give_back(10);
        let error = budget.take(66, "x").unwrap_err();
        assert!(matches!(error, Error::OverBudget { needed: 101, allowed: 100, .. }), "{error:?}");
        assert!(budget.take(u64::MAX, "x").is_err() && Budget::unlimited().take(u64::MAX, "x").is_ok());
    }

    #[test]
    fn a_failed_allocation_is_an_error() {
        let mut list = Vec::<u64>::new();
        assert!(Budget::unlimited().reserve(&mut list, usize::MAX / 16, "x").is_err());
    }

    #[test]
    fn a_meter_refuses_when_nothing_is_left() {
        let budget = Budget::of(Some(100));
        let mut meter = Metered::new(&[7u8; 64][..], 2, &budget);
        let mut bytes = [0; 40];
        meter.read_exact(&mut bytes).unwrap();
        let error = meter.read_exact(&mut bytes[..20]).unwrap_err();
        assert!(Refusal::within(&error).is_some() && meter.refused("x").is_some());
        drop(meter);
        assert_eq!(budget.left(), 100);
    }
}
