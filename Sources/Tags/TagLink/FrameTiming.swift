// SPDX-License-Identifier: Apache-2.0

/// Computes the airtime of frames at a technology's basic bit rate.
///
/// An exchange takes the time of four parts: the reader's frame, the delay until the tag may answer, the tag's frame,
/// and the delay until the reader may send again. The delays are the minimum of the standard. On NFC-A the frame delay
/// starts at the last modulation, so the end of communication is part of the delay and not counted again. After a
/// request whose last bit is 1 the tag waits 64 carrier periods longer; this is left out (ISO/IEC 14443-3, 6.2.1.1).
public struct FrameTiming: Sendable {
    /// The technology that the times are for.
    public let technology: Technology

    /// Creates the timing of a technology at its basic bit rate.
    @inlinable
    public init(_ technology: Technology) {
        self.technology = technology
    }

    /// The delay from the end of the reader's frame to the start of the answer.
    @inlinable
    public var answerDelay: Airtime {
        switch technology {
        case .nfcA: Airtime(carrierPeriods: 1172)
        // TR0 64/fs and TR1 80/fs at their minimum, with fs = fc/16 (ISO/IEC 14443-3, 7.1.6).
        case .nfcB: Airtime(carrierPeriods: (64 + 80) * 16)
        case .nfcF: Airtime(carrierPeriods: 2672)
        // t1 (ISO/IEC 15693-3, 8.4).
        case .nfcV: Airtime(carrierPeriods: 4352)
        }
    }

    /// Returns the delay from the end of a request to the start of its answer. The polling of NFC-F has a longer one:
    /// its first slot begins 2.417 ms after the request (NFC Forum Digital 2.3, 8.6.3).
    @inlinable
    public func answerDelay(after request: Frame) -> Airtime {
        if technology == .nfcF, request.bytes.count == 6, request.bytes[1] == 0x00 {
            return Airtime(carrierPeriods: 64 * 512)
        }
        return answerDelay
    }

    /// The delay from the end of the answer to the reader's next frame.
    @inlinable
    public var nextRequestDelay: Airtime {
        switch technology {
        case .nfcA: Airtime(carrierPeriods: 1172)
        // TR2 at its minimum: 10 etu and 32/fs (ISO/IEC 14443-3, 7.1.7).
        case .nfcB: Airtime(carrierPeriods: 10 * 128 + 32 * 16)
        case .nfcF: Airtime(carrierPeriods: 2672)
        // t2 (ISO/IEC 15693-3, 8.5).
        case .nfcV: Airtime(carrierPeriods: 4192)
        }
    }

    /// Returns the airtime of a frame from the reader to the tag.
    @inlinable
    public func request(_ frame: Frame) -> Airtime {
        switch technology {
        case .nfcA: nfcA(frame)
        case .nfcB: nfcB(frame)
        case .nfcF: nfcF(frame)
        // SOF 75.5 us, four byte slots of 75.5 us a byte, EOF 37.8 us (ISO/IEC 15693-2, 7.3).
        case .nfcV: Airtime(carrierPeriods: 1024 + 512 + Int64(frame.byteCountOnAir) * 4096)
        }
    }

    /// Returns the airtime of a frame from the tag to the reader.
    @inlinable
    public func response(_ frame: Frame) -> Airtime {
        switch technology {
        case .nfcA: nfcA(frame)
        case .nfcB: nfcB(frame)
        case .nfcF: nfcF(frame)
        // SOF and EOF 151 us each (ISO/IEC 15693-2, 8.5).
        case .nfcV: Airtime(carrierPeriods: 2048 + 2048 + Int64(frame.byteCountOnAir) * 4096)
        }
    }

    /// Start of communication, then 8 bits and a parity bit for each byte. An incomplete byte has no parity bit.
    @inlinable
    func nfcA(_ frame: Frame) -> Airtime {
        let whole = frame.validBitsInLastByte == 8 ? frame.byteCountOnAir : frame.bytes.count - 1
        let loose = frame.validBitsInLastByte == 8 ? 0 : frame.validBitsInLastByte
        return Airtime(carrierPeriods: Int64(1 + whole * 9 + loose) * 128)
    }

    /// SOF 12 etu, 10 etu a character with no extra guard time, EOF 10 etu (ISO/IEC 14443-3, 7.1).
    @inlinable
    func nfcB(_ frame: Frame) -> Airtime {
        Airtime(carrierPeriods: Int64(12 + frame.byteCountOnAir * 10 + 10) * 128)
    }

    /// At 212 kbit/s, with six bytes of preamble and two of sync before the data (NFC Forum Digital 2.3, 8.3).
    @inlinable
    func nfcF(_ frame: Frame) -> Airtime {
        Airtime(carrierPeriods: Int64(8 + frame.byteCountOnAir) * 512)
    }
}
