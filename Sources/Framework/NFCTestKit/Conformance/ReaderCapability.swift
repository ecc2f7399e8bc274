// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A capability that a scenario needs and that not every reader has.
public enum ReaderCapability: Sendable, Hashable, CustomStringConvertible {
    /// The reader looks for tags of a technology.
    case technology(Technology)
    /// The reader supports Type 1 tags.
    case type1
    /// The reader sends packets of the app to tags of a technology.
    case packets(Technology)
    /// The reader supports extended APDUs.
    case extendedAPDUs

    public var description: String {
        switch self {
        case .technology(let technology): "\(technology)"
        case .type1: "Type 1 tags"
        case .packets(let technology): "packets over \(technology)"
        case .extendedAPDUs: "extended APDUs"
        }
    }
}
