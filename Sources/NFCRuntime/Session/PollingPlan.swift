// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What a session looks for.
public struct PollingPlan: Sendable, Hashable {
    /// The technologies to look for.
    public var technologies: Set<Technology>
    /// The FeliCa systems to look for, each in turn; a tag is found by the first that it has.
    public var systemCodes: [UInt16]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for.
    ///   - systemCodes: the FeliCa systems to look for.
    public init(technologies: Set<Technology>, systemCodes: [UInt16] = []) {
        self.technologies = technologies
        self.systemCodes = systemCodes
    }

    /// Every tag that may hold NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])
}
