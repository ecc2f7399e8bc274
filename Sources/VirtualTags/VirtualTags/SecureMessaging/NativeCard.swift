// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The part of a native command that the next frame continues.
enum NativePending: Sendable {
    case nothing
    case frames([[UInt8]])
    case command(UInt8, data: [UInt8], length: Int, Protection)
    /// The reader's proof of an authentication, with the session to continue, if any.
    case proof(CardAuthentication, after: EV2Messaging?)
}

/// The native commands of MIFARE DESFire and NTAG 424 DNA: their frames, authentication and secure messaging.
protocol NativeCard: Card {
    /// The number of bytes that are programmed at a time, and the time this takes.
    static var programmingUnit: Int { get }
    static var programmingTime: Airtime { get }

    var random: SplitMix64 { get set }
    /// The number of the authenticated key, and the protection of messages after the authentication.
    var authenticatedKey: UInt8? { get set }
    var session: (any SecureMessaging)? { get set }
    var pending: NativePending { get set }
    /// What the current command leaves in memory after a power cut; nil without a power cut.
    var tear: TornWrite? { get set }

    mutating func answer(to message: [UInt8]) -> CardAnswer

    /// Handles the first frame of a command.
    mutating func execute(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply

    mutating func perform(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> DESFireReply

    /// Returns a key for an authentication; nil for an unknown key.
    func key(_ number: UInt8) -> DESFireKey?

    func endsAuthentication(_ error: DESFireStatus) -> Bool

    /// Returns the maximum number of data bytes in a frame of a command's answer.
    func frameLimit(of command: UInt8) -> Int
}

extension NativeCard {
    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        let before = self
        self.tear = tear
        let answer = answer(to: message)
        self.tear = nil
        // Undoes the whole write.
        if tear == .old, answer.isWrite { self = before }
        return answer
    }

    mutating func forgetAuthentication() {
        authenticatedKey = nil
        session = nil
    }

    static func programming(_ count: Int) -> Airtime {
        programmingTime * ((count + programmingUnit - 1) / programmingUnit)
    }

    /// Executes a native command in an APDU of class 90.
    mutating func processWrapped(_ command: CardCommand) -> CardAnswer {
        guard command.parameters == 0 else { return CardAnswer(status: .wrongParameters) }
        let reply = native(command.ins, command.data)
        return answer(reply, reply.data + [0x91, reply.status.rawValue])
    }

    func answer(_ reply: DESFireReply, _ bytes: [UInt8]) -> CardAnswer {
        CardAnswer(bytes, workTime: Self.programming(reply.programmed), isWrite: reply.programmed > 0)
    }

    /// Executes a native command. An error cancels any unfinished command or authentication, and ends an existing
    /// authentication. Starting a new command before the last frame of the previous command is such an error.
    mutating func native(_ command: UInt8, _ data: [UInt8]) -> DESFireReply {
        do throws(DESFireStatus) {
            guard command != 0xAF else { return try proceed(data) }
            guard case .nothing = pending else { throw .commandAborted }
            return try execute(command, data)
        } catch {
            pending = .nothing
            if endsAuthentication(error) { forgetAuthentication() }
            return DESFireReply(status: error)
        }
    }

    // MARK: Frames

    /// AF: the next frame of an answer, of a command, or of an authentication.
    private mutating func proceed(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        let waiting = pending
        pending = .nothing
        switch waiting {
        case .nothing: throw .illegalCommand
        case .frames(let frames):
            guard data.isEmpty else { throw .lengthError }
            return frame(frames)
        case .command(let command, let begun, let length, let protection):
            return try gather(command, begun + data, length, protection)
        case .proof(let authentication, let previous):
            let transaction = random.bytes(4)
            let (answer, session) = try authentication.finish(data, transaction: transaction, session: previous)
            self.session = session
            authenticatedKey = authentication.number
            return DESFireReply(data: answer)
        }
    }

    /// Waits for more of a command's data, or executes the command.
    mutating func gather(
        _ command: UInt8,
        _ data: [UInt8],
        _ length: Int,
        _ protection: Protection
    ) throws(DESFireStatus) -> DESFireReply {
        guard data.count <= length else { throw .lengthError }
        guard data.count < length else { return try complete(command, data, protection) }
        pending = .command(command, data: data, length: length, protection)
        return DESFireReply(status: .additionalFrame)
    }

    /// Executes a complete command: removes its protection, and protects the answer.
    mutating func complete(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> DESFireReply {
        let plain = try session?.open(command, data, protection) ?? data
        var reply = try perform(command, plain)
        if let sealed = try session?.seal(reply.data, protection, status: reply.status.rawValue) { reply.data = sealed }
        var answer = frame(frames(of: reply.data, cuts: reply.cuts, limit: frameLimit(of: command)))
        if answer.status == .success { answer.status = reply.status }
        answer.programmed = reply.programmed
        return answer
    }

    private func frames(of data: [UInt8], cuts: [Int], limit: Int) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var start = 0
        for cut in cuts + [data.count] {
            repeat {
                let end = cut - start > limit ? start + limit : cut
                frames.append(Array(data[start..<end]))
                start = end
            } while start < cut
        }
        return frames
    }

    /// Sends the first frame, and stores the others for AF.
    private mutating func frame(_ frames: [[UInt8]]) -> DESFireReply {
        guard frames.count > 1 else { return DESFireReply(data: frames.first ?? []) }
        pending = .frames(Array(frames.dropFirst()))
        return DESFireReply(data: frames[0], status: .additionalFrame)
    }

    // MARK: Keys

    /// The first part of an authentication: sends an encrypted challenge (MF3ICD81 data sheet, 9.4; NT4H2421Gx data
    /// sheet, 10.4, for the commands from EV2 on).
    mutating func authenticate(
        _ command: UInt8,
        _ data: [UInt8],
        usesLRP: Bool = false
    ) throws(DESFireStatus) -> DESFireReply {
        let previous = session as? EV2Messaging
        forgetAuthentication()
        guard let scheme = CardAuthentication.Scheme(rawValue: command) else { throw .illegalCommand }
        guard let number = data.first, data.count == scheme.length(of: data) else { throw .lengthError }
        guard let key = key(number) else { throw .noSuchKey }
        guard scheme.takes(key.kind) else { throw .authenticationError }
        guard scheme != .ev2NonFirst || previous != nil else { throw .permissionDenied }
        let authentication = CardAuthentication(
            scheme,
            number: number,
            key: key,
            challenge: random.bytes(16),
            capabilities: Array(data.dropFirst(2)),
            usesLRP: usesLRP
        )
        pending = .proof(authentication, after: previous)
        return DESFireReply(data: authentication.sent, status: .additionalFrame)
    }

    /// Ends CHANGE KEY. If the session's own key was replaced, the session ends too.
    mutating func endKeyChange(ofSession isOwn: Bool) throws(DESFireStatus) -> DESFireReply {
        guard !isOwn else {
            forgetAuthentication()
            return DESFireReply(programmed: Self.programmingUnit)
        }
        let code = try session?.seal([], .standard, status: 0x00) ?? []
        return DESFireReply(data: code, programmed: Self.programmingUnit)
    }

    func keyVersion(_ data: [UInt8]) throws(DESFireStatus) -> DESFireReply {
        try expect(data, 1)
        guard let key = key(data[0]) else { throw .noSuchKey }
        return DESFireReply(data: [key.version])
    }

    /// Returns whether one of a file's rights is free, or its key was authenticated.
    func allows(_ accessRights: FileAccessRights, _ rights: FileAccessRights.Right...) -> Bool {
        accessRights.allow(authenticatedKey, rights)
    }

    func expect(_ data: [UInt8], _ count: Int) throws(DESFireStatus) {
        guard data.count == count else { throw .lengthError }
    }
}

struct DESFireReply: Sendable {
    var data: [UInt8] = []
    /// The positions where a new frame starts even if the previous frame is not full.
    var cuts: [Int] = []
    var status = DESFireStatus.success
    /// The number of programmed bytes; 0 if the memory is unchanged.
    var programmed = 0
}

extension DESFireReply {
    init(parts: [[UInt8]]) {
        data = Array(parts.joined())
        for part in parts.dropLast() { cuts.append((cuts.last ?? 0) + part.count) }
    }
}
