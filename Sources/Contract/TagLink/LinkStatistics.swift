// SPDX-License-Identifier: Apache-2.0

/// What a link has counted since it was made: a deterministic measure of speed, the same on every machine.
///
/// Take one value before a piece of work and one after it, and subtract.
public struct LinkStatistics: Sendable, Hashable, AdditiveArithmetic {
    /// Requests sent, answered or not.
    public var exchanges: Int

    /// Octets sent in both directions, with their checksums; a frame of a few bits counts as one octet.
    public var bytesOnAir: Int

    /// Time on the air at the standard's minimum delays: frames, frame delays, and time-outs waited for.
    public var airtime: Airtime

    /// Time for which tags kept the reader waiting beyond the minimum delay, such as the programming of an EEPROM.
    /// Not part of `airtime`.
    public var tagWorkTime: Airtime

    /// Creates counts; all zero unless given.
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
    ///   - response: the frame that came back, or nil when there was none.
    ///   - timing: the technology's timing.
    ///   - timeout: how long the reader listened when there was no answer.
    ///   - tagWorkTime: how long the tag kept the reader waiting beyond the minimum delay.
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

    /// No exchange at all.
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
