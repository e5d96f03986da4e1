//! Prints shipping labels.

/// Where a parcel goes.
pub struct Address {
    pub street: String,
    pub city: String,
}

impl Address {
    /// The address in the three lines of a label.
    pub fn label(&self, name: &str) -> String {
        format!("{}\n{}\n{}", name, self.street, self.city)
    }
}
