//! From entropy to a log's stimulus.

use std::fmt;

use traceproof_vectors::itanium_pmu::events::Qualifier;
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, DataEarQualifier, DataEarThresholds, DataTlbLevel, EarReadPrivilege, EarReplacement,
    FreezeTiming, Ia32Counting, IbrLowBits, Instruction, InstructionTlbResolution, LatencyOverflow,
    LatencyThreshold, LongSyllable, Miss, Occurrence, Parameters, Policy, Register, RegisterClass, Stimulus,
};

use super::world::World;
use crate::generate::Entropy;
use traceproof_vectors::Address;

/// Maximum number of steps before the final reads, so that a scenario stays readable.
pub const MAX_STEPS: usize = 2000;

/// Everything that determines a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// How strict, and which options.
    pub parameters: Parameters,
    /// What the model writes.
    pub policy: Policy,
    /// What happens, from a reset to reads of every register.
    pub stimulus: Vec<Stimulus>,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}\n{:?}", self.parameters, self.policy)?;
        self.stimulus.iter().try_for_each(|step| writeln!(f, "{step:x?}"))
    }
}

/// Makes a scenario of entropy. Any bytes give one that a processor can go through.
#[must_use]
pub fn scenario(bytes: &[u8]) -> Scenario {
    let mut entropy = Entropy::new(bytes);
    let parameters = parameters(&mut entropy);
    let policy = Policy { tags: !entropy.chance(10) };
    let world = World::new(&mut entropy);
    let mut author =
        Author { world, entropy, stimulus: vec![Stimulus::Reset], instruction: false, access: false };
    author.program_everything();
    while !author.entropy.is_empty() && author.stimulus.len() < MAX_STEPS {
        author.step();
    }
    author.read_everything();
    Scenario { parameters, policy, stimulus: author.stimulus }
}

fn parameters(entropy: &mut Entropy<'_>) -> Parameters {
    // Mostly the defaults: every other answer at once would hide what each does.
    let mut other = || usize::from(entropy.chance(24));
    Parameters {
        strict: other() == 0,
        ia32_counting: Ia32Counting::ALL[other()],
        latency_overflow: LatencyOverflow::ALL[other()],
        ear_replacement: EarReplacement::ALL[other()],
        long_syllable: LongSyllable::ALL[other()],
        freeze: FreezeTiming::ALL[other()],
        ibr_low_bits: IbrLowBits::ALL[other()],
        data_ear_thresholds: DataEarThresholds::ALL[other()],
        data_ear_qualifier: DataEarQualifier::ALL[other()],
        latency_threshold: LatencyThreshold::ALL[other()],
        ear_read_privilege: EarReadPrivilege::ALL[other()],
    }
}

struct Author<'a> {
    world: World,
    entropy: Entropy<'a>,
    stimulus: Vec<Stimulus>,
    /// An instruction, an access since the last reset, which others can belong to.
    instruction: bool,
    access: bool,
}

impl Author<'_> {
    /// Gives most registers a value, so that something is counted from the first cycle on.
    fn program_everything(&mut self) {
        for register in Register::implemented() {
            if self.entropy.chance(200) {
                self.write(register);
            }
        }
        // Whatever was written above: not frozen.
        self.stimulus.push(Stimulus::Write { register: Register::pmc(0), value: 0 });
    }

    fn step(&mut self) {
        match self.entropy.below(32) {
            0..=8 => self.instruction(),
            9..=15 => self.access(),
            16..=19 => self.miss(),
            20..=22 => self.occurrence(),
            23..=26 => self.stimulus.push(Stimulus::Cycle),
            // A frozen monitor counts nothing any more.
            27 => self.stimulus.push(Stimulus::Write { register: Register::pmc(0), value: 0 }),
            28 => {
                let register = self.register();
                self.write(register);
            }
            29 => self.write(Register::PSR),
            30 => {
                let register = self.register();
                self.stimulus.push(Stimulus::Read(register));
            }
            _ if self.entropy.chance(8) => {
                self.stimulus.push(Stimulus::Reset);
                (self.instruction, self.access) = (false, false);
                self.program_everything();
            }
            _ => self.write(Register::pmc(0)),
        }
    }

    fn register(&mut self) -> Register {
        let class = self.entropy.pick(&[
            RegisterClass::Pmc,
            RegisterClass::Pmd,
            RegisterClass::Ibr,
            RegisterClass::Dbr,
        ]);
        let index = self.entropy.below(usize::from(class.count()));
        Register { class, index: u8::try_from(index).unwrap_or(0) }
    }

    fn write(&mut self, register: Register) {
        let mut value = self.world.value(register, &mut self.entropy);
        if register == Register::pmd(17) {
            // No bundle has a slot 3; reading that back is a fault of its own.
            value &= !(1 << 3);
        }
        self.stimulus.push(Stimulus::Write { register, value });
    }

    fn instruction(&mut self) {
        let (entropy, world) = (&mut self.entropy, &self.world);
        let instruction = Instruction {
            ip: Address(world.ip(entropy)),
            slot: entropy.byte() % 3,
            itype: World::syllable_type(entropy),
            enco: world.encoding(entropy),
            retired: !entropy.chance(25),
            squashed: entropy.chance(25),
        };
        self.instruction = true;
        self.stimulus.push(Stimulus::Instruction(instruction));
    }

    fn access(&mut self) {
        if !self.instruction {
            return self.instruction();
        }
        let kind = self.entropy.pick(&AccessKind::ALL);
        let address = self.world.address(&mut self.entropy);
        self.access = true;
        self.stimulus.push(Stimulus::Access(Access { kind, address: Address(address) }));
    }

    fn miss(&mut self) {
        let entropy = &mut self.entropy;
        // Around the thresholds, which are powers of two.
        let power = 1u32 << entropy.below(14);
        let latency = (power + u32::from(entropy.byte() % 3)).saturating_sub(1);
        let miss = match entropy.below(4) {
            0 => Miss::InstructionCache { ip: Address(self.world.ip(entropy)), latency },
            1 => {
                let resolution =
                    entropy.pick(&[InstructionTlbResolution::Vhpt, InstructionTlbResolution::Software]);
                Miss::InstructionTlb { ip: Address(self.world.ip(entropy)), resolution }
            }
            _ if !self.access => return self.access(),
            2 => Miss::DataCache { latency },
            _ => Miss::DataTlb {
                level: entropy.pick(&[DataTlbLevel::L2, DataTlbLevel::Vhpt, DataTlbLevel::Software]),
            },
        };
        self.stimulus.push(Stimulus::Miss(miss));
    }

    fn occurrence(&mut self) {
        let (es, umask, qualifier) = self.world.event(&mut self.entropy);
        match qualifier {
            Qualifier::None => {}
            Qualifier::Data if !self.access => return self.access(),
            _ if !self.instruction => return self.instruction(),
            _ => {}
        }
        let count = self.entropy.byte() % 7;
        self.stimulus.push(Stimulus::Occurrence(Occurrence { es, umask, count }));
    }

    /// Ends the cycle, freezes and reads everything at the highest privilege, so that whatever a model holds is seen.
    fn read_everything(&mut self) {
        self.stimulus.push(Stimulus::Cycle);
        self.stimulus.push(Stimulus::Read(Register::pmc(0)));
        self.stimulus.push(Stimulus::Write { register: Register::PSR, value: 0 });
        self.stimulus.push(Stimulus::Write { register: Register::pmc(0), value: 1 });
        self.stimulus.extend(Register::implemented().map(Stimulus::Read));
    }
}
