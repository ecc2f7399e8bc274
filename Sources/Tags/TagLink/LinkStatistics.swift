// SPDX-License-Identifier: Apache-2.0

/// The counts of a link since it was created: a deterministic measure of speed, equal on every machine.
///
/// To measure a piece of work, take the value before and after it, and subtract.
public struct LinkStatistics: Sendable, Hashable, AdditiveArithmetic {
    /// The number of requests sent, answered or not.
    public var exchanges: Int

    /// The bytes sent in both directions, with their checksums. A frame of a few bits counts as one byte.
    public var bytesOnAir: Int

    /// The time on the air with the standard's minimum delays: frames, frame delays, and the timeouts that were waited
    /// for.
    public var airtime: Airtime

    /// The time that tags needed beyond the minimum delay, for example to program an EEPROM. Not part of `airtime`.
    public var tagWorkTime: Airtime

    /// Creates counts. All are zero by default.
    @inlinable
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
    ///   - response: the frame that came back; nil when no answer came.
    ///   - timing: the technology's timing.
    ///   - timeout: how long the reader waited when no answer came.
    ///   - tagWorkTime: how long the tag needed beyond the minimum delay.
    @inlinable
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

    /// Counts an exchange by its outcome. A failure counts if the request was sent.
    ///
    /// - Parameters:
    ///   - request: the frame that was sent.
    ///   - outcome: the tag's answer, or why there is none.
    ///   - technology: the link's technology.
    ///   - timeout: how long the reader waits for an answer.
    package mutating func count(
        _ request: Frame,
        _ outcome: Result<Frame, LinkError>,
        _ technology: Technology,
        timeout: Airtime
    ) {
        let timing = FrameTiming(technology)
        switch outcome {
        case .success(let answer): count(request: request, response: answer, timing: timing, timeout: .zero)
        case .failure(let error):
            switch error.code {
            case .timeout: count(request: request, response: nil, timing: timing, timeout: timeout)
            case .transmission, .collision: count(request: request, response: nil, timing: timing, timeout: .zero)
            default: break
            }
        }
    }

    /// No exchanges.
    public static let zero = LinkStatistics()

    @inlinable
    public static func + (lhs: LinkStatistics, rhs: LinkStatistics) -> LinkStatistics {
        LinkStatistics(
            exchanges: lhs.exchanges + rhs.exchanges,
            bytesOnAir: lhs.bytesOnAir + rhs.bytesOnAir,
            airtime: lhs.airtime + rhs.airtime,
            tagWorkTime: lhs.tagWorkTime + rhs.tagWorkTime
        )
    }

    @inlinable
    public static func - (lhs: LinkStatistics, rhs: LinkStatistics) -> LinkStatistics {
        LinkStatistics(
            exchanges: lhs.exchanges - rhs.exchanges,
            bytesOnAir: lhs.bytesOnAir - rhs.bytesOnAir,
            airtime: lhs.airtime - rhs.airtime,
            tagWorkTime: lhs.tagWorkTime - rhs.tagWorkTime
        )
    }
}
