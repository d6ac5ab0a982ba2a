//! Exception information, byte by byte.

use traceproof_vectors::arm_etm::v3::ExceptionInformation;

/// The exception information bytes taken so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExceptionBytes {
    information: ExceptionInformation,
    /// Which one comes next: 0, 1 or 2.
    next: u8,
}

impl ExceptionBytes {
    pub(super) const EMPTY: Self = Self {
        information: ExceptionInformation {
            number: 0,
            cancel: false,
            alt_isa: false,
            non_secure: false,
            hyp: None,
            resume: None,
        },
        next: 0,
    };

    pub(super) const fn information(self) -> ExceptionInformation {
        self.information
    }

    /// Which of the three bytes `byte` is. Spec: ETM3-EXC-004 (7.3.5).
    pub(super) const fn which(self, byte: u8) -> u8 {
        match self.next {
            1 if byte & 0x40 != 0 => 2,
            next => next,
        }
    }

    /// Whether this byte is the last one; `None` if none may be after it but it says so.
    ///
    /// Spec: ETM3-EXC-001 to 004 (7.3.5).
    pub(super) const fn take(&mut self, byte: u8) -> Option<bool> {
        let which = self.which(byte);
        let information = &mut self.information;
        match which {
            0 => {
                information.alt_isa = byte & 0x40 != 0;
                information.cancel = byte & 0x20 != 0;
                information.number = (byte >> 1 & 0xf) as u16;
                information.non_secure = byte & 1 != 0;
            }
            1 => {
                information.hyp = Some(byte & 0x20 != 0);
                information.number |= (byte as u16 & 0x1f) << 4;
            }
            _ => {
                information.resume = Some(byte & 0xf);
                return if byte & 0x80 == 0 { Some(true) } else { None };
            }
        }
        self.next = which + 1;
        Some(byte & 0x80 == 0)
    }
}
