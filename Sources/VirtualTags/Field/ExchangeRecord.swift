// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// One exchange of a ``VirtualField``, as it was recorded.
public struct ExchangeRecord: Sendable, Hashable, CustomStringConvertible {
    /// The technology of the link.
    public var technology: Technology
    /// What the reader sent.
    public var request: Frame
    /// What the reader received, or why it received nothing.
    public var result: Result<Frame, LinkError>
    /// How long the exchange took: airtime and the tag's work.
    public var elapsed: Airtime

    /// Creates a record.
    public init(technology: Technology, request: Frame, result: Result<Frame, LinkError>, elapsed: Airtime) {
        self.technology = technology
        self.request = request
        self.result = result
        self.elapsed = elapsed
    }

    /// The answer, or nil when there was none.
    public var response: Frame? {
        try? result.get()
    }

    /// The exchange on one line, such as `30 03 -> e1 10 12 00 …` or `26' -> timeout`, where a `'` marks octets that
    /// were not sent whole.
    public var description: String {
        switch result {
        case .success(let response): "\(request.hexadecimal) -> \(response.hexadecimal)"
        case .failure(let error): "\(request.hexadecimal) -> \(error.code)"
        }
    }
}

extension Frame {
    fileprivate var hexadecimal: String {
        let octets = bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
        return octets.joined(separator: " ") + (validBitsInLastByte == 8 ? "" : "'")
    }
}
