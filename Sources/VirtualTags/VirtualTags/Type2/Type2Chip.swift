// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// The state machine of a Type 2 tag: it takes a frame and returns the answer.
struct Type2Chip: Sendable {
    /// The result of a command.
    enum Reply {
        case data([UInt8])
        case acknowledge
        /// The memory was programmed. The acknowledgement follows after the programming time.
        case programmed
        /// Success, which is signalled by no answer.
        case silence
        /// A refusal with a 4-bit code. The tag returns to IDLE or HALT.
        case refusal(Refusal)
        /// An unknown command. The tag returns to IDLE or HALT; most products also send a refusal.
        case unknown
    }

    /// The 4-bit codes of refusals (NTAG213/215/216 data sheet, 9.3).
    enum Refusal: UInt8 {
        case argument = 0x0
        case checksum = 0x1
        case authenticationOrCounter = 0x4
        case programming = 0x5
    }

    /// The command whose second part the tag waits for.
    enum Pending: Sendable {
        case nothing
        case compatibilityWrite(page: UInt8)
        case sector
        case tripleDES(ChallengeProof)
    }

    /// The time for programming a page: 4.1 ms.
    static let programmingTime = Airtime.microseconds(4100)

    var contents: Type2Contents
    var listener: NFCAListener?

    // Volatile state.
    var pending = Pending.nothing
    var sector: UInt8 = 0
    var isAuthenticated = false
    /// Whether the reading counter has counted since power-up.
    var hasCountedReading = false
    var latched = Latched()
    /// The generator of challenges. They are the same in every run.
    var random: SplitMix64
    /// What remains of the page of the current command after a power cut.
    var tear: TornWrite?

    /// The settings that stay active until the next activation or power-up, even if the memory changes.
    struct Latched: Sendable {
        var staticLocks: UInt32 = 0
        var dynamicLocks: UInt32 = 0
        /// CFGLCK, which changes only at power-up (NTAG213/215/216 data sheet, 8.5.7).
        var isConfigurationLocked = false
        /// The two configuration pages before the password; empty when the product has none.
        var configuration: [UInt8] = []
        /// The key pages of Ultralight C (MF0ICU2 data sheet, 7.5.7); empty for other products.
        var key: [UInt8] = []
        var protectionStart = Int.max
        var protectsReading = false
    }

    init(_ contents: Type2Contents) {
        var contents = contents
        contents.memory.removeLast(contents.memory.count % 4)
        let factory = Type2Contents.factoryMemory(contents.product)
        if contents.memory.count < factory.count {
            contents.memory += factory[contents.memory.count...]
        }
        contents.counters = Array((contents.counters + [0, 0, 0]).prefix(3))
        contents.tearingFlags = Array((contents.tearingFlags + [0xBD, 0xBD, 0xBD]).prefix(3))
        self.contents = contents
        random = SplitMix64(identifier: contents.uid)
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak)
        losePower()
    }

    var product: Type2Product { contents.product }

    mutating func losePower() {
        listener?.reset()
        beginActivation()
        hasCountedReading = false
        latched.isConfigurationLocked = configurationAccess & 0x40 != 0
        if !product.locksAtActivation { latchLocks() }
    }

    /// Resets what REQA and WUPA reset.
    mutating func beginActivation() {
        pending = .nothing
        sector = 0
        isAuthenticated = false
        if product.locksAtActivation { latchLocks() }
        latchConfiguration()
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        guard let outcome = listener?.receive(frame) else { return nil }
        switch outcome {
        case .silence:
            return nil
        case .answer(let answer):
            return TagAnswer(answer)
        case .woken(let answer):
            beginActivation()
            return TagAnswer(answer)
        case .damaged:
            return refuse(Refusal.checksum.rawValue)
        case .command(let command):
            return execute(command, injectedFault: injectedFault)
        }
    }

    private mutating func execute(_ command: [UInt8], injectedFault: InjectedFault?) -> TagAnswer? {
        var refused: (code: UInt8, before: (Type2Contents, Latched))?
        switch injectedFault {
        case .refusal(let code):
            return refuse(code)
        case .writeRefusal(let code):
            refused = (code, (contents, latched))
        case .powerCut(let rest):
            tear = rest
        case nil:
            break
        }
        let reply = reply(to: command)
        tear = nil
        switch reply {
        case .data(let bytes):
            return TagAnswer(Frame(bytes))
        case .acknowledge:
            return TagAnswer(Self.acknowledgement)
        case .programmed:
            if let refused {
                (contents, latched) = refused.before
                return refuse(refused.code, isWrite: true)
            }
            return TagAnswer(Self.acknowledgement, workTime: Self.programmingTime, isWrite: true)
        case .silence:
            return nil
        case .refusal(let refusal):
            return refuse(refusal.rawValue)
        case .unknown:
            let answer = refuse(Refusal.argument.rawValue)
            return product.features.contains(.ignoresUnknownCommands) ? nil : answer
        }
    }

    private static let acknowledgement = Frame(bits: [0x0A], validBitsInLastByte: 4)

    private mutating func refuse(_ code: UInt8, isWrite: Bool = false) -> TagAnswer {
        pending = .nothing
        listener?.deselect()
        return TagAnswer(Frame(bits: [code & 0x0F], validBitsInLastByte: 4), isWrite: isWrite)
    }

    /// Executes a command of an activated tag.
    private mutating func reply(to command: [UInt8]) -> Reply {
        let waiting = pending
        pending = .nothing
        switch waiting {
        case .nothing: break
        case .compatibilityWrite(let page): return compatibilityWrite(page, command)
        case .sector: return sectorSelect(command)
        case .tripleDES(let authentication): return finishTripleDES(authentication, command)
        }
        guard let code = command.first else { return .refusal(.argument) }
        let features = product.features
        switch (code, command.count) {
        case (0x30, 2): return read(command[1])
        case (0xA2, 6): return write(command[1], Array(command[2...]))
        case (0x3A, 3) where features.contains(.fastRead): return fastRead(command[1], command[2])
        case (0x60, 1): return contents.version.map { .data($0) } ?? .unknown
        case (0xA0, 2) where features.contains(.compatibilityWrite): return beginCompatibilityWrite(command[1])
        case (0xC2, 2) where features.contains(.sectors): return beginSectorSelect(command[1])
        case (0x1B, 5) where features.contains(.password): return authenticate(Array(command[1...]))
        case (0x3C, 2) where features.contains(.signature):
            return command[1] == 0 ? .data(contents.signature) : .refusal(.argument)
        case (0x39, 2) where !features.isDisjoint(with: [.counters, .readingCounter]): return readCounter(command[1])
        case (0xA5, 6) where features.contains(.counters):
            return incrementCounter(command[1], by: Array(command[2..<5]))
        case (0x3E, 2) where features.contains(.counters):
            return command[1] < 3 ? .data([contents.tearingFlags[Int(command[1])]]) : .refusal(.argument)
        case (0x4B, 21) where features.contains(.virtualCardSelect): return .data([configuration(1, 1)])
        case (0x1A, 2) where features.contains(.tripleDES): return beginTripleDES(command[1])
        // All products refuse a known command with a wrong length.
        case (0x30, _), (0xA2, _), (0xA0, _): return .refusal(.argument)
        default: return .unknown
        }
    }
}
