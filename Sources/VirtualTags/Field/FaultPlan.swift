// SPDX-License-Identifier: Apache-2.0

/// What goes wrong in a field, and when. Counted from the moment the plan is set, so that a test can enumerate it.
public struct FaultPlan: Sendable, Hashable {
    /// All tags are gone from this exchange on, 0 being the next one; nil for never.
    public var tagsLeaveAtExchange: Int?
    /// The field is cut after this many write commands have been programmed, before they are acknowledged; 0 cuts it
    /// before the first is programmed; nil for never.
    public var cutsAfterWrite: Int?
    /// The exchanges whose answer is damaged.
    public var damagedExchanges: Set<Int> = []
    /// The exchanges to which no tag answers.
    public var mutedExchanges: Set<Int> = []
    /// Answers that replace the tag's own, by exchange.
    public var replacedAnswers: [Int: [UInt8]] = [:]

    /// Creates a plan in which nothing goes wrong.
    public init() {}
}
