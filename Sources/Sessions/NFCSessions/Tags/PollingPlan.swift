// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What a session looks for.
public struct PollingPlan: Sendable, Hashable {
    /// The technologies to look for.
    public var technologies: Set<Technology>
    /// The FeliCa systems to look for, in order. A tag is found with the first one that it has.
    public var systemCodes: [UInt16]
    /// Whether to start the transport protocol of cards when they are found, so that their historical bytes are known.
    public var opensCards: Bool
    /// The applications to look for on each opened card, in order. The first one that it has stays selected.
    public var applications: [[UInt8]]
    /// Whether to ask each opened card for PACE (EF.CardAccess), before its applications. If it supports PACE, no
    /// application is selected.
    public var findsPACE: Bool

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for.
    ///   - systemCodes: the FeliCa systems to look for.
    ///   - opensCards: whether to start the transport protocol of cards when they are found.
    ///   - applications: the applications to look for on each card, in order.
    ///   - findsPACE: whether to ask each card for PACE.
    public init(
        technologies: Set<Technology>,
        systemCodes: [UInt16] = [],
        opensCards: Bool = false,
        applications: [[UInt8]] = [],
        findsPACE: Bool = false
    ) {
        self.technologies = technologies
        self.systemCodes = systemCodes
        self.opensCards = opensCards
        self.applications = applications
        self.findsPACE = findsPACE
    }

    /// All tags that may have NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// All tags. A tag that may have NDEF is found like with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}
