// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What a session looks for.
public struct PollingPlan: Sendable, Hashable {
    /// The technologies to look for.
    public var technologies: Set<Technology>
    /// The FeliCa systems to look for, each in turn; a tag is found by the first that it has.
    public var systemCodes: [UInt16]
    /// Whether the transport protocol of cards is begun while they are found, so that their historical bytes are known.
    public var opensCards: Bool
    /// The applications to look for on each card that is opened, in order; the first that it has stays selected.
    public var applications: [[UInt8]]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for.
    ///   - systemCodes: the FeliCa systems to look for.
    ///   - opensCards: whether the transport protocol of cards is begun while they are found.
    ///   - applications: the applications to look for on each card, in order.
    public init(
        technologies: Set<Technology>,
        systemCodes: [UInt16] = [],
        opensCards: Bool = false,
        applications: [[UInt8]] = []
    ) {
        self.technologies = technologies
        self.systemCodes = systemCodes
        self.opensCards = opensCards
        self.applications = applications
    }

    /// Every tag that may hold NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// Every tag, whether or not it may hold NDEF; one that may is found as with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}
