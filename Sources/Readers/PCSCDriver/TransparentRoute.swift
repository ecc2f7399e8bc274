// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Sends frames in a transparent session (PC/SC part 3, supplement 2.02.03, 2: Manage Session, Transparent Exchange,
/// Switch Protocol).
struct TransparentRoute: FrameRoute {
    /// The instruction byte: C2, or 50 for Sony's PaSoRi RC-S300, which uses the same data objects.
    let instruction: UInt8
    let technology: Technology

    var maximumFrameLength: Int { 240 }

    static let instructions: [UInt8] = [0xC2, 0x50]

    // Tags of the data objects for sessions and exchanges.
    private static let startSession: UInt8 = 0x81
    private static let endSession: UInt8 = 0x82
    private static let switchProtocol: UInt8 = 0x8F
    private static let validBits: UInt16 = 0x92
    private static let transceive: UInt8 = 0x95
    private static let responseStatus: UInt16 = 0x96
    private static let response: UInt16 = 0x97

    /// The time that the reader itself needs.
    private static let margin = Airtime.milliseconds(5)

    func begin(_ connection: CardConnection) throws(LinkError) {
        _ = try command(0x00, [Self.startSession, 0x00], connection)
        // Layer 3: the reader selects the tag and sends nothing else to it. FeliCa has no layers.
        let standard: (UInt8, UInt8) =
            switch technology {
            case .nfcA: (0x00, 0x03)
            case .nfcB: (0x01, 0x03)
            case .nfcV: (0x02, 0x03)
            case .nfcF: (0x03, 0x00)
            }
        do throws(LinkError) {
            _ = try command(0x02, [Self.switchProtocol, 0x02, standard.0, standard.1], connection)
        } catch {
            end(connection)
            throw error
        }
    }

    func end(_ connection: CardConnection) {
        _ = try? command(0x00, [Self.endSession, 0x00], connection)
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        guard frame.checksum == .automatic, !frame.bytes.isEmpty else {
            throw .cannotSend("A transparent session", "frames without their technology's own checksum")
        }
        guard frame.bytes.count <= 127 else {
            throw LinkError(.frameTooLong, "A transparent session accepts frames of up to 127 bytes.")
        }
        let microseconds = UInt32(clamping: (timeout + Self.margin).microseconds)
        var data: [UInt8] = [0x5F, 0x46, 0x04]
        for shift: UInt32 in [0, 8, 16, 24] { data.append(UInt8(truncatingIfNeeded: microseconds >> shift)) }
        data += [Self.transceive, UInt8(frame.bytes.count)]
        data += frame.bytes
        let objects = try command(0x01, data, connection)
        guard let bytes = objects[Self.response], !bytes.isEmpty else {
            throw LinkError(.timeout, "The tag did not answer.")
        }
        if technology == .nfcA, bytes.count == 1, objects[Self.validBits]?.first == 4 {
            return Frame(bits: [bytes[0] & 0x0F], validBitsInLastByte: 4)
        }
        let status = objects[Self.responseStatus]?.first ?? 0
        if status & 0x02 != 0 { throw LinkError(.collision, "Several tags answered.") }
        if status & 0x0D != 0 { throw LinkError(.transmission, "The tag's answer was damaged.") }
        if technology == .nfcA, bytes.count == 1 { return Frame(bits: [bytes[0] & 0x0F], validBitsInLastByte: 4) }
        return Frame(bytes)
    }

    /// Sends a command, and checks data object C0, in which the reader reports success or failure.
    private func command(
        _ kind: UInt8,
        _ data: [UInt8],
        _ connection: CardConnection
    ) throws(LinkError) -> [UInt16: [UInt8]] {
        let answer = try connection.ask([0xFF, instruction, 0x00, kind, UInt8(data.count)] + data + [0x00])
        guard answer.isDone else {
            throw LinkError(.unsupported, "The reader does not support transparent sessions (\(answer.statusText)).")
        }
        guard let list = DataObject.sequence(answer.data) else {
            throw LinkError(.transmission, "The reader's answer does not consist of data objects.")
        }
        let objects = Dictionary(list.map { ($0.tag, $0.value) }, uniquingKeysWith: { $1 })
        guard let outcome = objects[0xC0], outcome.count >= 3 else { return objects }
        switch (outcome[1], outcome[2]) {
        case (0x90, 0x00): return objects
        case (0x64, 0x01): throw LinkError(.timeout, "The tag did not answer.")
        case (0x62, _), (0x63, _), (0x64, _), (0x6F, _):
            throw LinkError(.transmission, "The reader could not exchange the frame (\(outcome[1]), \(outcome[2])).")
        default: throw LinkError(.unsupported, "The reader can't do this in a transparent session.")
        }
    }
}

/// Sends ISO/IEC 15693 requests with Identiv's Traverse, FF FD (uTrust 3720F reference manual 1.0, 6.3.7.12).
struct TraverseRoute: FrameRoute {
    /// The waiting time for each code, in microseconds, starting with code 0.
    private static let waitingTimes: [Int64] = [
        500, 1000, 2000, 5000, 10000, 25000, 50000, 75000, 100_000, 250_000, 500_000, 750_000, 1_000_000,
    ]
    private static let standardFrame: UInt8 = 0x01

    func begin(_ connection: CardConnection) throws(LinkError) {
        // READ SINGLE BLOCK of block 0. Any answer, even an error, proves that the request reached the tag.
        let timeout = Airtime.milliseconds(10)
        let answer = try exchange(Frame([0x02, 0x20, 0x00]), timeout: timeout, connection)
        guard let flags = answer.bytes.first, flags & 0xFE == 0 else {
            throw .cannotSend("The reader", "the host's own requests to this tag")
        }
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        guard frame.checksum == .automatic, (1...250).contains(frame.bytes.count) else {
            throw .cannotSend("The reader", "frames without their checksum, or longer than 250 bytes")
        }
        let wanted = timeout.microseconds
        let code = Self.waitingTimes.firstIndex { $0 >= wanted } ?? Self.waitingTimes.count - 1
        let answer = try connection.ask(
            [0xFF, 0xFD, UInt8(code), Self.standardFrame, UInt8(frame.bytes.count)] + frame.bytes + [0x00]
        )
        switch answer.status {
        case 0x9000 where !answer.data.isEmpty: return Frame(answer.data)
        case 0x6D00, 0x6E00, 0x6A81, 0x6881, 0x6B00:
            throw LinkError(.unsupported, "The reader does not support Traverse (\(answer.statusText)).")
        default: throw LinkError(.timeout, "The tag did not answer (\(answer.statusText)).")
        }
    }
}
