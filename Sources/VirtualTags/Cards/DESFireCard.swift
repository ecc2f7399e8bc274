// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A MIFARE DESFire EV1: native commands, the same wrapped in APDUs of class 90, and those of ISO/IEC 7816-4.
///
/// Applications, files and access rights are those of the data sheet. Cryptography plugs in as an
/// ``AuthenticationProvider``; without one the card's keys are keys that nobody knows, so that whatever is not free is
/// refused with AE. Data that a file wants encrypted or with a code are refused too.
///
/// Not modelled: changing keys and settings, value operations and the writing of records.
public struct DESFireCard: Card {
    /// The most octets of data in a frame of a native command.
    static let frameLimit = 59
    /// The most octets of data that UPDATE BINARY takes.
    static let updateLimit = 52
    /// How many octets the memory programs at a time, and how long it takes.
    static let programmingUnit = 32
    static let programmingTime = Airtime.milliseconds(3)

    /// What a native command waits for in its next frame.
    enum Pending: Sendable {
        case nothing
        /// The rest of an answer, as it is cut into frames.
        case frames([[UInt8]])
        /// The rest of the data of a write.
        case write(file: UInt8, offset: Int, data: [UInt8], length: Int)
        case proof(key: UInt8)
    }

    /// What the card holds.
    public internal(set) var contents: DESFireContents
    var authentication: any AuthenticationProvider

    // Volatile state.
    /// The place of the selected application; nil for the card itself.
    var selected: Int?
    /// The place of the file that SELECT chose in the application.
    var currentFile: Int?
    var authenticatedKey: UInt8?
    var pending = Pending.nothing
    /// Backup files as they will be after COMMIT TRANSACTION, by their places.
    var transaction: [Int: [UInt8]] = [:]
    /// What a power cut leaves of the memory that the present command programs.
    var tear: TornWrite?

    /// Creates a card.
    ///
    /// - Parameters:
    ///   - contents: what it holds.
    ///   - authentication: its cryptography; nil for a card whose keys nobody knows.
    public init(_ contents: DESFireContents, authentication: (any AuthenticationProvider)? = nil) {
        self.contents = contents
        self.authentication = authentication ?? UnknownKeys(contents.uid)
    }

    public mutating func losePower() {
        select(nil)
    }

    /// Selects an application, or the card itself; whoever was authenticated is so no more.
    mutating func select(_ application: Int?) {
        selected = application
        currentFile = nil
        authenticatedKey = nil
        pending = .nothing
        transaction = [:]
        authentication.reset()
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        self.tear = tear
        defer { self.tear = nil }
        guard let code = message.first else { return CardAnswer([DESFireStatus.lengthError.rawValue]) }
        switch code {
        case 0x00 where message.count >= 4:
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            pending = .nothing
            return processISO(command)
        case 0x90 where message.count >= 4:
            guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
            guard command.parameters == 0 else { return CardAnswer(status: .wrongParameters) }
            let reply = native(command.ins, command.data)
            return answer(reply, reply.data + [0x91, reply.status.rawValue])
        default:
            let reply = native(code, Array(message.dropFirst()))
            return answer(reply, [reply.status.rawValue] + reply.data)
        }
    }

    private func answer(_ reply: DESFireReply, _ bytes: [UInt8]) -> CardAnswer {
        let units = (reply.programmed + Self.programmingUnit - 1) / Self.programmingUnit
        return CardAnswer(bytes, workTime: Self.programmingTime * units, isWrite: units > 0)
    }

    private mutating func native(_ command: UInt8, _ data: [UInt8]) -> DESFireReply {
        do throws(DESFireStatus) {
            return try command == 0xAF ? proceed(data) : execute(command, data)
        } catch {
            pending = .nothing
            return DESFireReply(status: error)
        }
    }

    // MARK: Frames

    /// AF: the next frame of an answer or of a command.
    private mutating func proceed(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let waiting = pending
        pending = .nothing
        switch waiting {
        case .nothing:
            throw .illegalCommand
        case .frames(let frames):
            guard data.isEmpty else { throw .lengthError }
            return frame(frames)
        case .write(let file, let offset, let begun, let length):
            return try write(file, offset, begun + data, length)
        case .proof(let key):
            guard let answer = authentication.finish(data) else { throw .authenticationError }
            authenticatedKey = key
            return DESFireReply(data: answer)
        }
    }

    /// Sends the first of some frames, and keeps the others for AF.
    func frames(of data: [UInt8]) -> [[UInt8]] {
        guard data.count > Self.frameLimit else { return [data] }
        return stride(from: 0, to: data.count, by: Self.frameLimit).map {
            Array(data[$0..<min(data.count, $0 + Self.frameLimit)])
        }
    }

    mutating func frame(_ frames: [[UInt8]]) -> DESFireReply {
        guard frames.count > 1 else { return DESFireReply(data: frames.first ?? []) }
        pending = .frames(Array(frames.dropFirst()))
        return DESFireReply(data: frames[0], status: .additionalFrame)
    }

    // MARK: Rights

    /// Whether one of the keys of a file's rights is free, or was proved.
    ///
    /// - Parameters:
    ///   - rights: the file's rights.
    ///   - shifts: where the four bits of the wanted rights begin.
    func allows(_ rights: UInt16, _ shifts: Int...) -> Bool {
        shifts.contains { shift in
            let key = UInt8(rights >> UInt16(shift) & 0x0F)
            return key == 0x0E || (key != 0x0F && key == authenticatedKey)
        }
    }
}

extension Type4Tag {
    /// Creates a MIFARE DESFire EV1.
    ///
    /// - Parameters:
    ///   - contents: what the card holds.
    ///   - authentication: its cryptography; nil for a card whose keys nobody knows.
    ///   - ats: its answer to RATS.
    public convenience init(
        _ contents: DESFireContents,
        authentication: (any AuthenticationProvider)? = nil,
        ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
    ) {
        self.init(
            card: DESFireCard(contents, authentication: authentication),
            frontEnd: .nfcA(uid: contents.uid, ats: ats)
        )
    }
}
