// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The tag's side of NFC-B activation. It answers each frame, or passes the frame to the layer above.
///
/// The states are those of ISO/IEC 14443-3, 7.4: IDLE, READY-REQUESTED, READY-DECLARED, ACTIVE and HALT.
struct NFCBListener: Sendable {
    enum State: Sendable, Hashable {
        case idle
        /// The tag waits for the SLOT-MARKER of its slot, 2 to 16.
        case readyRequested(slot: Int)
        case readyDeclared
        case active
        case halt
    }

    enum Outcome: Sendable, Hashable {
        case silence
        case answer([UInt8])
        /// ATTRIB activated the tag. The answer still lacks the higher layer's response to `message`.
        case activated(cid: UInt8, readerFrameSize: Int, message: [UInt8])
        case block([UInt8])
    }

    /// The values of FSD and FSC by code (ISO/IEC 14443-3, table 21, and 14443-4, table 1).
    static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

    private let pupi: [UInt8]
    private let atqb: [UInt8]
    /// The application family; nil if the application data have another meaning.
    private let family: UInt8?
    private var random: SplitMix64
    private(set) var state = State.idle

    /// Creates the layer with the 4 bytes of the PUPI, 4 of application data, and 3 of protocol information. The last
    /// define whether the first byte of the application data is the family.
    init(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8]) {
        self.pupi = pupi
        atqb = [0x50] + pupi + applicationData + protocolInfo
        let usesFamily = protocolInfo.last.map { $0 & 0x0C == 0x04 } ?? false
        family = usesFamily ? applicationData.first : nil
        random = SplitMix64(identifier: pupi)
    }

    /// Resets the state, as a loss of power does.
    mutating func reset() { state = .idle }

    /// Enters HALT, as after S(DESELECT).
    mutating func halt() { state = .halt }

    /// Handles a frame. A frame with a wrong checksum is ignored.
    mutating func receive(_ frame: Frame) -> Outcome {
        guard let bytes = frame.payload(checkedBy: .nfcB), let first = bytes.first else { return .silence }
        if state == .active { return .block(bytes) }
        if first == 0x05, bytes.count == 3 { return receiveRequest(family: bytes[1], parameter: bytes[2]) }
        if first & 0x0F == 0x05, bytes.count == 1 { return receiveSlotMarker(slot: Int(first >> 4) + 1) }
        guard state == .readyDeclared, bytes.count >= 5, Array(bytes[1..<5]) == pupi else { return .silence }
        switch first {
        case 0x50 where bytes.count == 5:
            state = .halt
            return .answer([0x00])
        case 0x1D where bytes.count >= 9: return receiveAttribute(bytes)
        default: return .silence
        }
    }

    /// REQB and WUPB: the tag answers at once, or chooses a slot (ISO/IEC 14443-3, 7.7).
    private mutating func receiveRequest(family requested: UInt8, parameter: UInt8) -> Outcome {
        let isWakeUp = parameter & 0x08 != 0
        guard state != .halt || isWakeUp else { return .silence }
        let code = parameter & 0x07
        guard matches(requested), code <= 4 else {
            if state != .halt { state = .idle }
            return .silence
        }
        let slot = Int(random.next() % (1 << code)) + 1
        if slot == 1 {
            state = .readyDeclared
            return .answer(atqb)
        }
        state = .readyRequested(slot: slot)
        return .silence
    }

    private mutating func receiveSlotMarker(slot: Int) -> Outcome {
        guard state == .readyRequested(slot: slot) else { return .silence }
        state = .readyDeclared
        return .answer(atqb)
    }

    private mutating func receiveAttribute(_ bytes: [UInt8]) -> Outcome {
        let cid = bytes[8] & 0x0F
        guard cid < 15 else { return .silence }
        state = .active
        return .activated(
            cid: cid,
            readerFrameSize: Type4FrontEnd.frameSize(bytes[6] & 0x0F),
            message: Array(bytes[9...])
        )
    }

    /// Returns whether a request for an application family is for this tag (ISO/IEC 14443-3, 7.7.3).
    private func matches(_ requested: UInt8) -> Bool {
        guard requested != 0 else { return true }
        guard let family else { return false }
        if requested & 0x0F == 0 { return requested & 0xF0 == family & 0xF0 }
        if requested & 0xF0 == 0 { return requested & 0x0F == family & 0x0F }
        return requested == family
    }
}
