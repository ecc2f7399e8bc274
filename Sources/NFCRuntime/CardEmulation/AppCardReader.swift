// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink

/// The reader on which an app's card lies, as pcscd meets it.
struct AppCardReader: ReaderFirmware {
    /// Below the driver's own limit, so that its answer is ours.
    private static let answerLimit = Duration.seconds(25)
    /// T=0 and T=1 are possible, and there are no historical bytes (PC/SC 2.01 part 3, 3.1.3.2.3.1).
    private static let answerToReset: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]

    // Weak: the port owns the server, and with it the reader.
    private weak let port: PCSCCardPort?
    private var isPresent = false
    /// Whether the host has sent commands since the card has power.
    private var isUsed = false
    /// A random UID, as a phone has (ISO/IEC 14443-3, 6.5.4).
    private var uid: [UInt8] = []

    init(port: PCSCCardPort) {
        self.port = port
    }

    mutating func look() async -> EmulatedReader.Change {
        let isThere = port?.hasCard ?? false
        defer { isPresent = isThere }
        if isThere, !isPresent { uid = [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF) } }
        return EmulatedReader.Change(hasLost: isPresent && !isThere, hasFound: isThere && !isPresent)
    }

    mutating func lookAnew() async -> EmulatedReader.Change {
        isPresent = false
        port?.reader.approach()
        return await look()
    }

    mutating func hostLeft() {
        port?.reader.leave()
    }

    mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply {
        guard let port else { return .noCard }
        // pcscd takes the power of a card that nobody wants, and the app need not hear of it. One that was used loses
        // what was selected; the reader stays where it is.
        if power != .up, isUsed {
            isUsed = false
            port.reader.leave()
            port.reader.approach()
        }
        if power == .down { return .done([]) }
        return isPresent && port.hasCard ? .done(Self.answerToReset) : .noCard
    }

    mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply {
        guard let port, isPresent else { return .noCard }
        if apdu.first == 0xFF {
            return .done(apdu.prefix(4) == [0xFF, 0xCA, 0x00, 0x00] ? uid + [0x90, 0x00] : [0x6A, 0x81])
        }
        isUsed = true
        // An app that never answers is given up, as a terminal would.
        let limit = Task {
            try await Task.sleep(for: Self.answerLimit)
            port.reader.leave()
            port.reader.approach()
        }
        defer { limit.cancel() }
        guard let answer = try? await port.reader.transmit(apdu) else { return port.hasCard ? .failed : .noCard }
        return .done(answer)
    }

    mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply {
        .unsupported
    }

    func attribute(_ tag: UInt32) -> EmulatedReader.Reply {
        .unsupported
    }
}
