// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `Airtime of detection and reading` {
    struct Budget: Sendable, CustomTestStringConvertible {
        var size: Int
        var exchanges: Int
        /// The minimum of a reader that knows the message's length in advance, in microseconds.
        var minimum: Int64
        var limit = 0
        var testDescription: String { "\(size) bytes, limit \(limit)" }
    }

    /// Reads, and compares with a budget.
    ///
    /// - Parameter tolerance: how much more than the minimum it may be.
    func check<Tag: ModelResponder>(
        _ link: ModelField<Tag>,
        _ tag: any ForumTag,
        _ budget: Budget,
        tolerance: Double
    ) async throws {
        try await tag.prepare()
        let before = link.statistics
        let detection = try await tag.detectNDEF()
        #expect(detection.messageLength == budget.size)
        #expect(try await tag.readNDEF() == message(budget.size))
        let spent = link.statistics - before
        #expect(spent.exchanges <= budget.exchanges)
        #expect(Double(spent.airtime.microseconds) <= Double(budget.minimum) * tolerance)
        // A second time costs nothing.
        #expect(try await tag.readNDEF() == message(budget.size))
        #expect(try await tag.detectNDEF() == detection)
        #expect(link.statistics - before == spent)
    }

    static let type4: [Budget] = [
        Budget(size: 16, exchanges: 5, minimum: 10300, limit: 255),
        Budget(size: 20, exchanges: 5, minimum: 10640, limit: 255),
        Budget(size: 137, exchanges: 6, minimum: 20580, limit: 255),
        Budget(size: 492, exchanges: 7, minimum: 52740, limit: 255),
        Budget(size: 868, exchanges: 9, minimum: 88680, limit: 255),
        Budget(size: 872, exchanges: 9, minimum: 89020, limit: 255),
        Budget(size: 16, exchanges: 5, minimum: 10300, limit: 59),
        Budget(size: 137, exchanges: 7, minimum: 23180, limit: 59),
        Budget(size: 492, exchanges: 13, minimum: 61110, limit: 59),
        Budget(size: 868, exchanges: 20, minimum: 100_800, limit: 59),
    ]

    @Test(arguments: type4) func `Type 4: at most one exchange more than with the length known`(
        _ budget: Budget
    ) async throws {
        let link = ModelField(ModelCard(message(budget.size), maximumRead: budget.limit), .nfcA)
        try await check(link, Type4Tag(link: ISODEP(link: link)), budget, tolerance: 1.07)
    }

    static let type5: [Budget] = [
        Budget(size: 16, exchanges: 2, minimum: 14780),
        Budget(size: 137, exchanges: 2, minimum: 51030),
        Budget(size: 492, exchanges: 5, minimum: 169_900),
        Budget(size: 868, exchanges: 8, minimum: 294_700),
        Budget(size: 872, exchanges: 8, minimum: 295_900),
    ]

    @Test(arguments: type5) func `Type 5: READ MULTIPLE of what is needed, without the UID`(
        _ budget: Budget
    ) async throws {
        let link = ModelField(ModelVicinity(message(budget.size), blocks: 256), .nfcV)
        let target = NFCVTarget(uid: link.tag.uid)
        try await check(link, Type5Tag(target: target, link: link, isAlone: true), budget, tolerance: 1.005)
    }

    static let type3: [Budget] = [
        Budget(size: 16, exchanges: 3, minimum: 9970, limit: 4),
        Budget(size: 137, exchanges: 5, minimum: 19750, limit: 4),
        Budget(size: 492, exchanges: 10, minimum: 45500, limit: 4),
        Budget(size: 868, exchanges: 16, minimum: 74900, limit: 4),
    ]

    @Test(arguments: type3) func `Type 3: polling, the attribute block, and Nbr blocks at a time`(
        _ budget: Budget
    ) async throws {
        let link = ModelField(ModelFeliCa(message(budget.size), blockCount: 80, readLimit: budget.limit), .nfcF)
        let target = NFCFTarget(idm: link.tag.idm, pmm: link.tag.pmm, systemCode: 0x88B4)
        try await check(link, Type3Tag(target: target, link: link), budget, tolerance: 1.02)
    }

    @Test(arguments: [
        Budget(size: 20, exchanges: 1, minimum: 11491), Budget(size: 90, exchanges: 1, minimum: 11491),
        Budget(size: 100, exchanges: 4, minimum: 18948, limit: 1),
        Budget(size: 462, exchanges: 4, minimum: 49532, limit: 1),
    ])
    func `Type 1: RALL, then RSEG, or READ8 for a few blocks`(_ budget: Budget) async throws {
        let link = ModelField(ModelTopaz(message(budget.size), isLarge: budget.limit == 1), .nfcA)
        try await check(link, Type1Tag(link: link), budget, tolerance: 1.0)
    }
}
