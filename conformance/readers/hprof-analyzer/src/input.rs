use std::io::{self, Read};

/// The crate's reader, whose type has no public name, as one of bytes.
pub struct Input<Next>(pub Next);

impl<Next: FnMut(usize) -> io::Result<Vec<u8>>> Read for Input<Next> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        bytes.copy_from_slice(&(self.0)(bytes.len())?);
        Ok(bytes.len())
    }
}
