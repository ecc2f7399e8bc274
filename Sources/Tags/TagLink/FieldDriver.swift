// SPDX-License-Identifier: Apache-2.0

/// A reader whose host sends every frame, starting with the first REQA.
public protocol FieldDriver: ReaderDriver {
    /// Returns the link to the tags in the field, in one technology. Always the same object for a technology.
    ///
    /// - Returns: the link; nil when the reader doesn't support the technology.
    func link(for technology: Technology) -> (any FrameLink)?

    /// Turns the carrier on or off. When it is off, tags lose power and with it their state.
    func setCarrier(_ isOn: Bool) async throws(LinkError)
}

extension FieldDriver {
    /// The sum of the counts of all technologies' links.
    public var statistics: LinkStatistics {
        Technology.allCases.reduce(.zero) { $0 + (link(for: $1)?.statistics ?? .zero) }
    }
}
