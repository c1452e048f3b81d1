/// The holder is the normalized form itself.
impl wiregauge_runner::Message for Root {
    fn from_canonical(mut bytes: &[u8]) -> Result<Self, Error> {
        let message = Root::read_canonical(&mut bytes)?;
        match bytes.is_empty() {
            true => Ok(message),
            false => Err(Error::new("bytes left over")),
        }
    }
    fn to_canonical(&self, out: &mut Vec<u8>) {
        self.write_canonical(out)
    }
}
