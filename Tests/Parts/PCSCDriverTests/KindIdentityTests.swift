// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// A route whose results a test chooses, one for each request. Nothing answers afterwards.
private struct ChosenRoute: FrameRoute {
    let results: Locked<[Result<[UInt8], LinkError>]>
    let requests = Locked<[[UInt8]]>([])
    let timeouts = Locked<[Airtime]>([])

    init(_ results: [Result<[UInt8], LinkError>]) { self.results = Locked(results) }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        requests.withLock { $0.append(frame.bytes) }
        timeouts.withLock { $0.append(timeout) }
        let silence = Result<[UInt8], LinkError>.failure(LinkError(.timeout, "Nothing answers."))
        let next = results.withLock { results in results.isEmpty ? silence : results.removeFirst() }
        return Frame(try next.get())
    }
}

/// Checks what a tag would have reported during its activation, where the reader only tells its kind.
struct KindIdentityTests {
    private static let idm: [UInt8] = [0x02, 0xFE, 1, 2, 3, 4, 5, 6]
    private static let pmm: [UInt8] = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]

    private static func identity(
        of kind: AnswerToReset.StorageCard.Kind,
        _ identifier: [UInt8],
        by route: any FrameRoute,
        systemCodes: [UInt16] = []
    ) throws(LinkError) -> DiscoveredTag.Identity? {
        let connection = CardConnection(
            service: ServiceConnection(layer: SampleCards.service([], table: [:]), limits: .usual),
            reader: SampleCards.name
        )
        return try kind.identity(identifier, route, connection, systemCodes)
    }

    private static func failure(_ code: LinkError.Code) -> Result<[UInt8], LinkError> {
        .failure(LinkError(code, "A test's failure."))
    }

    @Test("A FeliCa card is of the system that was polled for, and of the one that it tells where any would do")
    func systems() throws {
        let cases: [(code: UInt16, told: [UInt8], system: UInt16)] = [
            (0x12FC, [0x12, 0xFC], 0x12FC), (0x12FC, [], 0x12FC), (0x12FC, [0x12], 0x12FC),
            (0x12FC, [0x88, 0xB4], 0x12FC), (0xFEFE, [0x88, 0xB4], 0xFEFE), (0xFFFF, [0x88, 0xB4], 0x88B4),
            (0xFF12, [0x34, 0x12], 0x3412), (0x12FF, [0x12, 0x34], 0x1234), (0xFFFF, [], 0xFFFF),
        ]
        for (code, told, system) in cases {
            let answer: [UInt8] = [UInt8(18 + told.count), 0x01] + Self.idm + Self.pmm + told
            let route = ChosenRoute([.success(answer)])
            let found = try Self.identity(of: .nfcF, [], by: route, systemCodes: [code])
            #expect(found == .nfcF(idm: Self.idm, pmm: Self.pmm, systemCode: system), "\(code) \(told)")
            #expect(route.requests.withLock { $0 } == [[6, 0, UInt8(code >> 8), UInt8(code & 0xFF), 1, 0]])
            #expect(route.timeouts.withLock { $0 } == [.milliseconds(20)])
        }
    }

    @Test("A FeliCa card is polled for one wanted system after the other, and for any where none is wanted")
    func polls() throws {
        let whole: [UInt8] = [18, 0x01] + Self.idm + Self.pmm
        let other: [UInt8] = [18, 0x03] + Self.idm + Self.pmm
        let route = ChosenRoute([
            Self.failure(.timeout), Self.failure(.transmission), .success(Array(whole.dropLast())), .success(other),
            .success([]), .success(whole),
        ])
        let found = try Self.identity(of: .nfcF, [], by: route, systemCodes: [1, 2, 3, 4, 5, 6, 7])
        #expect(found == .nfcF(idm: Self.idm, pmm: Self.pmm, systemCode: 6))
        #expect(route.requests.withLock { $0.map { $0[3] } } == [1, 2, 3, 4, 5, 6])
        let silent = ChosenRoute([])
        #expect(try Self.identity(of: .nfcF, [], by: silent) == nil)
        #expect(silent.requests.withLock { $0 } == [[6, 0, 0xFF, 0xFF, 1, 0]])
        let lost = ChosenRoute([Self.failure(.tagRemoved), .success(whole)])
        #expect(throws: LinkError(.tagRemoved, "")) {
            _ = try Self.identity(of: .nfcF, [], by: lost, systemCodes: [1, 2])
        }
    }

    @Test("A FeliCa card behind commands for storage cards has the identifier that the reader tells, of eight bytes")
    func storage() throws {
        let route = Type3StorageRoute(idm: Self.idm)
        let longest = [UInt8](repeating: 0xFF, count: 8)
        #expect(
            try Self.identity(of: .nfcF, Self.idm, by: route)
                == .nfcF(idm: Self.idm, pmm: longest, systemCode: nil)
        )
        for identifier in [[], Array(Self.idm.dropLast()), Self.idm + [7]] as [[UInt8]] {
            #expect(try Self.identity(of: .nfcF, identifier, by: route) == nil)
        }
    }

    @Test("A tag of ISO/IEC 15693 whose UID is not told is asked for it, and may not tell it")
    func inventory() throws {
        let uid: [UInt8] = [0xE0, 4, 1, 0x50, 0, 0x11, 0x22, 0x33]
        let onAir = Array(uid.reversed())
        let route = ChosenRoute([.success([0x00, 0x55] + onAir)])
        #expect(try Self.identity(of: .nfcV, [], by: route) == .nfcV(uid: uid, dsfid: 0x55))
        #expect(route.requests.withLock { $0 } == [[0x26, 0x01, 0x00]])
        #expect(route.timeouts.withLock { $0 } == [.milliseconds(20)])
        let bad: [[UInt8]] = [
            [], [0x00], [0x01, 0x55] + onAir, [0x00, 0x55] + onAir.dropLast(), [0x00, 0x55] + onAir + [0],
        ]
        for answer in bad {
            #expect(try Self.identity(of: .nfcV, [], by: ChosenRoute([.success(answer)])) == nil, "\(answer)")
        }
        for code in [LinkError.Code.timeout, .transmission, .unsupported] {
            #expect(try Self.identity(of: .nfcV, [], by: ChosenRoute([Self.failure(code)])) == nil, "\(code)")
        }
        #expect(throws: LinkError(.tagRemoved, "")) {
            _ = try Self.identity(of: .nfcV, [], by: ChosenRoute([Self.failure(.tagRemoved)]))
        }
        // Nothing is asked where the reader tells it.
        let told = ChosenRoute([])
        #expect(try Self.identity(of: .nfcV, onAir, by: told) == .nfcV(uid: uid, dsfid: 0))
        #expect(told.requests.withLock { $0.isEmpty })
    }

    @Test("A tag of NFC-A has the identifier that the reader tells, and what phones do not read has none")
    func others() throws {
        let route = ChosenRoute([])
        #expect(
            try Self.identity(of: .nfcA(sak: nil), [1, 2, 3, 4], by: route)
                == .nfcA(atqa: 0x0004, sak: 0x00, uid: [1, 2, 3, 4])
        )
        #expect(
            try Self.identity(of: .nfcA(sak: 0x18), [1, 2, 3, 4], by: route)
                == .nfcA(atqa: 0x0004, sak: 0x18, uid: [1, 2, 3, 4])
        )
        #expect(
            try Self.identity(of: .type1, [1, 2, 3, 4], by: route) == .nfcA(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4])
        )
        #expect(try Self.identity(of: .other("card"), [1, 2, 3, 4], by: route) == nil)
        #expect(route.requests.withLock { $0.isEmpty })
    }
}
