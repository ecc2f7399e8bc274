// SPDX-License-Identifier: Apache-2.0

/// A duration on the air, measured in periods of the 13.56 MHz carrier.
///
/// Every timing in the NFC standards is a whole number of carrier periods, so sums of airtime are exact and the same on
/// every machine.
public struct Airtime: Sendable, Hashable, Comparable, AdditiveArithmetic {
    /// The number of carrier periods, each 1/13.56 MHz (73.75 ns).
    public var carrierPeriods: Int64

    /// Creates a duration from carrier periods.
    public init(carrierPeriods: Int64) {
        self.carrierPeriods = carrierPeriods
    }

    /// Converts whole microseconds, rounded up to the next carrier period.
    public static func microseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: (count * 1356 + 99) / 100)
    }

    /// Converts whole milliseconds.
    public static func milliseconds(_ count: Int64) -> Airtime {
        Airtime(carrierPeriods: count * 13560)
    }

    /// No time.
    public static let zero = Airtime(carrierPeriods: 0)

    /// The duration in microseconds, rounded to the nearest whole number.
    public var microseconds: Int64 {
        (carrierPeriods * 100 + 678) / 1356
    }

    /// The duration as a `Duration`, rounded to the nearest nanosecond.
    public var duration: Duration {
        // Whole seconds first: a count of nanoseconds would overflow after some weeks.
        let (seconds, rest) = carrierPeriods.quotientAndRemainder(dividingBy: 13_560_000)
        return Duration.seconds(seconds) + Duration.nanoseconds((rest * 100_000 + 678) / 1356)
    }

    public static func + (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods + rhs.carrierPeriods)
    }

    public static func - (lhs: Airtime, rhs: Airtime) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods - rhs.carrierPeriods)
    }

    /// Multiplies a duration.
    public static func * (lhs: Airtime, rhs: Int) -> Airtime {
        Airtime(carrierPeriods: lhs.carrierPeriods * Int64(rhs))
    }

    public static func < (lhs: Airtime, rhs: Airtime) -> Bool {
        lhs.carrierPeriods < rhs.carrierPeriods
    }
}

/// What a link has counted since it was created: a deterministic measure of speed, the same on every machine.
///
/// To measure some code, read the value before and after it runs, and subtract.
public struct LinkStatistics: Sendable, Hashable, AdditiveArithmetic {
    /// The number of requests sent, answered or not.
    public var exchanges: Int

    /// The bytes sent in both directions, with their checksums. A frame of a few bits counts as one byte.
    public var bytesOnAir: Int

    /// The time on the air with the standard's minimum delays. It includes frames, frame delays and expired timeouts.
    public var airtime: Airtime

    /// The time that tags took beyond the minimum delay, such as for programming an EEPROM. Not part of `airtime`.
    public var tagWorkTime: Airtime

    /// Creates counts. All are zero by default.
    public init(
        exchanges: Int = 0,
        bytesOnAir: Int = 0,
        airtime: Airtime = .zero,
        tagWorkTime: Airtime = .zero
    ) {
        self.exchanges = exchanges
        self.bytesOnAir = bytesOnAir
        self.airtime = airtime
        self.tagWorkTime = tagWorkTime
    }

    /// Counts one exchange.
    ///
    /// - Parameters:
    ///   - request: the frame that was sent.
    ///   - response: the tag's answer; nil when the tag did not answer.
    ///   - timing: the technology's timing.
    ///   - timeout: how long the reader waited if the tag did not answer.
    ///   - tagWorkTime: how long the tag took beyond the minimum delay.
    public mutating func count(
        request: Frame,
        response: Frame?,
        timing: FrameTiming,
        timeout: Airtime,
        tagWorkTime: Airtime = .zero
    ) {
        exchanges += 1
        bytesOnAir += request.byteCountOnAir
        airtime += timing.request(request)
        if let response {
            bytesOnAir += response.byteCountOnAir
            airtime += timing.answerDelay(after: request) + timing.response(response) + timing.nextRequestDelay
            self.tagWorkTime += tagWorkTime
        } else {
            airtime += timeout
        }
    }

    /// Counts an exchange by its outcome. Of the failures, only timeouts, transmission errors and collisions count.
    package mutating func count(
        _ request: Frame,
        _ outcome: Result<Frame, LinkError>,
        _ technology: Technology,
        timeout: Airtime
    ) {
        var response: Frame?
        var wait = Airtime.zero
        switch outcome {
        case .success(let answer): response = answer
        case .failure(let error):
            switch error.code {
            case .timeout: wait = timeout
            case .transmission, .collision: break
            default: return
            }
        }
        count(request: request, response: response, timing: FrameTiming(technology), timeout: wait)
    }

    /// No exchanges.
    public static let zero = LinkStatistics()

    public static func + (lhs: LinkStatistics, rhs: LinkStatistics) -> LinkStatistics {
        LinkStatistics(
            exchanges: lhs.exchanges + rhs.exchanges,
            bytesOnAir: lhs.bytesOnAir + rhs.bytesOnAir,
            airtime: lhs.airtime + rhs.airtime,
            tagWorkTime: lhs.tagWorkTime + rhs.tagWorkTime
        )
    }

    public static func - (lhs: LinkStatistics, rhs: LinkStatistics) -> LinkStatistics {
        LinkStatistics(
            exchanges: lhs.exchanges - rhs.exchanges,
            bytesOnAir: lhs.bytesOnAir - rhs.bytesOnAir,
            airtime: lhs.airtime - rhs.airtime,
            tagWorkTime: lhs.tagWorkTime - rhs.tagWorkTime
        )
    }
}

/// Computes the airtime of frames at a technology's basic bit rate.
///
/// An exchange has four parts: the reader's frame, the delay until the tag may answer, the tag's frame, and the delay
/// until the reader may send again. The delays are the minimum of the standard. On NFC-A the frame delay starts at the
/// last modulation, so it already contains the end of communication. The 64 extra carrier periods after a request whose
/// last bit is 1 are left out (ISO/IEC 14443-3, 6.2.1.1).
public struct FrameTiming: Sendable {
    /// The technology that the times are for.
    public let technology: Technology

    /// Creates the times of a technology.
    public init(_ technology: Technology) {
        self.technology = technology
    }

    /// The delay from the end of the reader's frame to the start of the answer.
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

    /// Returns the delay from the end of a request to the start of its answer. NFC-F polling has a longer delay:
    /// the first slot begins 2.417 ms after the request (NFC Forum Digital 2.3, 8.6.3).
    public func answerDelay(after request: Frame) -> Airtime {
        if technology == .nfcF, request.bytes.count == 6, request.bytes[1] == 0x00 {
            return Airtime(carrierPeriods: 64 * 512)
        }
        return answerDelay
    }

    /// The delay from the end of the answer to the reader's next frame.
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
    public func request(_ frame: Frame) -> Airtime {
        // On NFC-V: SOF 75.5 us, four byte slots of 75.5 us a byte, EOF 37.8 us (ISO/IEC 15693-2, 7.3).
        airtime(of: frame, delimitersOfNFCV: 1024 + 512)
    }

    /// Returns the airtime of a frame from the tag to the reader.
    public func response(_ frame: Frame) -> Airtime {
        // On NFC-V: SOF and EOF 151 us each (ISO/IEC 15693-2, 8.5).
        airtime(of: frame, delimitersOfNFCV: 2048 + 2048)
    }

    private func airtime(of frame: Frame, delimitersOfNFCV: Int64) -> Airtime {
        let count = Int64(frame.byteCountOnAir)
        switch technology {
        case .nfcA:
            // Start of communication, then 8 bits and a parity bit for each byte. An incomplete byte has no parity bit.
            let isWhole = frame.validBitsInLastByte == 8
            let bits = isWhole ? count * 9 : Int64((frame.bytes.count - 1) * 9 + frame.validBitsInLastByte)
            return Airtime(carrierPeriods: (1 + bits) * 128)
        // SOF 12 etu, 10 etu per character without extra guard time, EOF 10 etu (ISO/IEC 14443-3, 7.1).
        case .nfcB: return Airtime(carrierPeriods: (12 + count * 10 + 10) * 128)
        // At 212 kbit/s, with six bytes of preamble and two of sync before the data (NFC Forum Digital 2.3, 8.3).
        case .nfcF: return Airtime(carrierPeriods: (8 + count) * 512)
        case .nfcV: return Airtime(carrierPeriods: delimitersOfNFCV + count * 4096)
        }
    }
}
