// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A transparent session of PC/SC 2.02, in which the host itself builds the frames for the card (part 3 supplement,
/// 3.2.2.9).
struct TransparentSession: Sendable {
    struct Effect: Sendable {
        var response: [UInt8]
        /// The settings of the field, in order: true switches it on.
        var fields: [Bool] = []
        /// The technology in which to select a card, and whether to send RATS to it. The response then depends on that
        /// card.
        var selects: (technology: Technology, beginsISODEP: Bool)?
    }

    /// The data object for success: number 0, and a status word.
    static let success: [UInt8] = [0xC0, 3, 0, 0x90, 0x00]

    /// Creates a response with the number of the data object that failed, counted from 1; 0 for the command itself.
    static func failure(object: Int, _ status: [UInt8]) -> [UInt8] {
        [0xC0, 3, UInt8(truncatingIfNeeded: object)] + status + ReaderStatus.done
    }

    private let field: any FieldDriver
    private var isOpen = false
    private var technology: Technology?
    /// Bit 0: the host appends the checksum. Bit 1: the host checks it in answers. Other bits are for parity.
    private var flags: UInt8 = 0
    /// How many bits of the last byte to send; 0 for all.
    private var sentBits: UInt8 = 0
    private var timeout = Airtime.milliseconds(50)

    init(field: any FieldDriver) {
        self.field = field
    }

    mutating func end() {
        self = TransparentSession(field: field)
    }

    /// Handles a command that starts with `FF C2 00`.
    mutating func receive(_ command: ReaderCommand, card: FieldCard?) async -> Effect {
        guard command.p1 == 0 else { return Effect(response: ReaderStatus.unsupportedFunction) }
        guard let objects = DataObject.sequence(command.data) else {
            return Effect(response: Self.failure(object: 0, ReaderStatus.wrongLength))
        }
        switch command.p2 {
        case 0x00: return manage(objects, card)
        case 0x01: return Effect(response: await exchange(objects, card))
        case 0x02: return switchProtocol(objects)
        default: return Effect(response: ReaderStatus.unsupportedFunction)
        }
    }

    private mutating func manage(_ objects: [DataObject], _ card: FieldCard?) -> Effect {
        var effect = Effect(response: [])
        var answer: [UInt8] = []
        for (index, object) in objects.enumerated() {
            switch object.tag {
            case 0x80: answer += [0x80, 3, 1, 0, 0]
            case 0x81:
                end()
                isOpen = true
                technology = card?.technology
            case 0x82: end()
            case 0x83: effect.fields.append(false)
            case 0x84: effect.fields.append(true)
            case 0x5F46:
                guard let time = Self.time(object.value) else {
                    effect.response = Self.failure(object: index + 1, ReaderStatus.wrongLength)
                    return effect
                }
                timeout = time
            default:
                // The preceding objects still have their effect.
                effect.response = Self.failure(object: index + 1, ReaderStatus.unsupportedFunction)
                return effect
            }
        }
        effect.response = Self.success + answer + ReaderStatus.done
        return effect
    }

    /// `8F 02` contains the standard and the layer. Layer 3 selects a card. Layer 4 also sends RATS; in layer 3, RATS
    /// is left to the host.
    private mutating func switchProtocol(_ objects: [DataObject]) -> Effect {
        guard let object = objects.first, object.tag == 0x8F, object.value.count == 2 else {
            return Effect(response: Self.failure(object: 1, ReaderStatus.wrongLength))
        }
        let standards: [UInt8: Technology] = [0: .nfcA, 1: .nfcB, 2: .nfcV, 3: .nfcF]
        guard isOpen, let standard = standards[object.value[0]], object.value[1] <= 4 else {
            return Effect(response: Self.failure(object: 1, ReaderStatus.unsupportedFunction))
        }
        technology = standard
        var effect = Effect(response: Self.success + ReaderStatus.done)
        if object.value[1] >= 3 { effect.selects = (standard, object.value[1] == 4) }
        return effect
    }

    /// Sends a frame, with the settings from this command and earlier commands.
    private mutating func exchange(_ objects: [DataObject], _ card: FieldCard?) async -> [UInt8] {
        var request: (object: Int, bytes: [UInt8], waits: Bool)?
        for (index, object) in objects.enumerated() {
            let number = index + 1
            switch (object.tag, object.value.count) {
            case (0x90, 2): flags = object.value[0] | object.value[1]
            case (0x91, 1): sentBits = object.value[0] & 0x07
            case (0x93, _): request = (number, object.value, false)
            case (0x95, _): request = (number, object.value, true)
            case (0x5F46, 4):
                guard let time = Self.time(object.value) else { break }
                timeout = time
            case (0x90, _), (0x91, _), (0x5F46, _): return Self.failure(object: number, ReaderStatus.wrongLength)
            default: return Self.failure(object: number, ReaderStatus.unsupportedFunction)
            }
        }
        guard isOpen, let request, !request.bytes.isEmpty else { return Self.failure(object: 0, [0x69, 0x85]) }
        guard let technology = technology ?? card?.technology, let link = field.link(for: technology) else {
            return Self.failure(object: request.object, ReaderStatus.unsupportedFunction)
        }
        do throws(LinkError) {
            let answer = try await link.transceive(
                raw: request.bytes,
                bitsOfLastByte: sentBits == 0 ? 8 : Int(sentBits),
                appends: flags & 0x01 == 0,
                removes: flags & 0x02 == 0,
                timeout: timeout
            )
            guard request.waits else { return Self.success + ReaderStatus.done }
            let bits = answer.validBitsInLastByte == 8 ? 0 : UInt8(answer.validBitsInLastByte)
            return Self.success + [0x92, 1, bits, 0x96, 2, 0, 0]
                + DataObject(0x97, answer.bytes).bytes
                + ReaderStatus.done
        } catch {
            // A command that only transmits does not need an answer.
            guard request.waits else { return Self.success + ReaderStatus.done }
            return Self.failure(object: request.object, [0x64, 0x01])
        }
    }

    /// Parses a time in microseconds: four bytes, least significant first, as programs send it to real readers. At most
    /// five seconds.
    private static func time(_ value: [UInt8]) -> Airtime? {
        guard value.count == 4 else { return nil }
        let microseconds = Int64(bytes: value.reversed())
        return .microseconds(min(microseconds, 5_000_000))
    }
}
