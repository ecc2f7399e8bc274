// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A recorded exchange of a ``VirtualField``.
public struct ExchangeRecord: Sendable, Hashable, CustomStringConvertible {
    /// The technology of the link.
    public var technology: Technology
    /// The frame from the reader.
    public var request: Frame
    /// The frame that the reader received, or the error.
    public var result: Result<Frame, LinkError>
    /// The duration of the exchange: airtime and the tag's work.
    public var elapsed: Airtime

    /// Creates a record.
    public init(technology: Technology, request: Frame, result: Result<Frame, LinkError>, elapsed: Airtime) {
        self.technology = technology
        self.request = request
        self.result = result
        self.elapsed = elapsed
    }

    /// The answer; nil when there was none.
    public var response: Frame? {
        try? result.get()
    }

    /// The exchange on one line, such as `30 03 -> e1 10 12 00 …` or `26' -> timeout`. A `'` marks bytes that were not
    /// sent completely.
    public var description: String {
        switch result {
        case .success(let response): "\(request.hexadecimal) -> \(response.hexadecimal)"
        case .failure(let error): "\(request.hexadecimal) -> \(error.code)"
        }
    }
}

extension Frame {
    fileprivate var hexadecimal: String {
        bytes.hexText(separator: " ") + (validBitsInLastByte == 8 ? "" : "'")
    }
}
