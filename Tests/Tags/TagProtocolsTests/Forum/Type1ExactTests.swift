// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact exchanges with Type 1 tags, large ones too, that answer late, for another address, or as another tag (NFC Forum T1T 1.2, 5).
@Suite struct `Type 1 tags, command by command` {
    typealias Step = ScriptedLink.Step

    private static func step(_ request: String, _ answer: String) -> Step {
        Step(request: Frame(bytes(request), checksum: .crcB), result: .success(Frame(bytes(answer), checksum: .crcB)))
    }
    private static func step(_ request: String, _ code: LinkError.Code) -> Step {
        Step(request: Frame(bytes(request), checksum: .crcB), result: .failure(LinkError(code, "scripted")))
    }

    private static let identify = "78 000000 000000"
    private static let large = Type1Target(headerROM0: 0x12, headerROM1: 0x4C, uid: [1, 2, 3, 4])
    private static let uid = "01020304"
    private static let none = String(repeating: "00", count: 8)

    private static func tag(_ steps: Step..., target: Type1Target? = large) -> (Type1Tag, ScriptedLink) {
        let link = ScriptedLink(steps)
        return (Type1Tag(target: target, link: link), link)
    }

    @Test func `RID is sent three times, and its answer has six bytes`() async throws {
        for code: LinkError.Code in [.timeout, .transmission] {
            let link = ScriptedLink([
                Self.step(Self.identify, code), Self.step(Self.identify, code),
                Self.step(Self.identify, "1148 01020304"),
            ])
            #expect(
                try await Type1Target.identify(link: link)
                    == Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
            )
            let lost = ScriptedLink([Step](repeating: Self.step(Self.identify, code), count: 3))
            await #expect(throws: TagError(code == .timeout ? .tagLost : .badAnswer, "")) {
                try await Type1Target.identify(link: lost)
            }
        }
        for answer in ["1148 010203", "1148 0102030405", ""] {
            let link = ScriptedLink([Self.step(Self.identify, answer)])
            await #expect(throws: TagError(.badAnswer, "")) { try await Type1Target.identify(link: link) }
        }
        let gone = ScriptedLink([Self.step(Self.identify, .cancelled)])
        await #expect(throws: TagError(.cancelled, "")) { try await Type1Target.identify(link: gone) }
        for (header, isStatic, hasNDEF): (UInt8, Bool, Bool) in [
            (0x11, true, true), (0x12, false, true), (0x21, true, false), (0x10, false, true),
        ] {
            let target = Type1Target(headerROM0: header, headerROM1: 0, uid: [1, 2, 3, 4])
            #expect(target.isStatic == isStatic && target.hasNDEF == hasNDEF)
        }
    }

    @Test func `A tag is there when it is the same one`() async throws {
        let (known, _) = Self.tag(
            Self.step(Self.identify, "124c 01020304"),
            Self.step(Self.identify, "124c 01020305"),
            Self.step(Self.identify, "1148 01020304")
        )
        #expect(await known.isPresent())
        #expect(await !known.isPresent())
        #expect(await !known.isPresent())
        let (unknown, _) = Self.tag(Self.step(Self.identify, "1148 01020304"), target: nil)
        #expect(await unknown.isPresent())
    }

    @Test func `A tag that is lost is asked nothing until it was activated again`() async throws {
        let silent = [Step](repeating: Self.step(Self.identify, .timeout), count: 3)
        let link = ScriptedLink(silent + [Self.step(Self.identify, "124c 01020304")])
        let tag = Type1Tag(link: link)
        for _ in 0..<2 { await #expect(throws: TagError(.tagLost, "")) { try await tag.prepare() } }
        #expect(await !tag.isPresent() && link.remaining == 1)
        tag.wasActivated()
        try await tag.prepare()
        try await tag.prepare()
        #expect(link.remaining == 0 && tag.target == Self.large && tag.uid == nil)
    }

    private static func readBlock(_ block: UInt8, echo: UInt8? = nil, _ data: String) -> Step {
        step("02" + hex([block]) + none + uid, hex([echo ?? block]) + data)
    }

    @Test func `Blocks are read one by one, or by their segment where six of it are wanted`() async throws {
        let data = (0..<8).map { hex([UInt8](repeating: UInt8($0), count: 8)) }
        let all = "124c" + hex([1, 2, 3, 4]) + String(repeating: "aa", count: 116)
        let few = (32..<37).map { Self.readBlock($0, data[Int($0) - 32]) }
        let link = ScriptedLink([Self.step("000000" + Self.uid, all)] + few)
        let tag = Type1Tag(target: Self.large, link: link)
        try await tag.fetch(256..<296)
        #expect(
            link.remaining == 0 && tag.memory[byte: 256] == 0 && tag.memory[byte: 295] == 4
                && tag.memory[byte: 296] == nil
        )
        let segment = "20" + String(repeating: "bb", count: 128)
        let more = ScriptedLink([
            Self.step("000000" + Self.uid, all), Self.step("1020" + Self.none + Self.uid, segment),
        ])
        let other = Type1Tag(target: Self.large, link: more)
        try await other.fetch(256..<304)
        #expect(more.remaining == 0 && other.memory[byte: 383] == 0xBB && other.memory[byte: 384] == nil)
        try await other.fetch(300..<310)
    }

    @Test func `An answer for another address, or of another length, is an error`() async throws {
        let all = Self.step("000000" + Self.uid, "124c" + hex([1, 2, 3, 4]) + String(repeating: "aa", count: 116))
        func fetch(_ range: Range<Int>, _ steps: Step...) async -> TagError.Code? {
            let tag = Type1Tag(target: Self.large, link: ScriptedLink([all] + steps))
            do throws(TagError) {
                try await tag.fetch(range)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await fetch(256..<264, Self.readBlock(32, Self.none)) == nil)
        #expect(await fetch(256..<264, Self.readBlock(32, echo: 33, Self.none)) == .badAnswer)
        #expect(await fetch(256..<264, Self.readBlock(32, Self.none + "00")) == .badAnswer)
        let segment = String(repeating: "bb", count: 128)
        #expect(await fetch(256..<384, Self.step("1020" + Self.none + Self.uid, "30" + segment)) == .badAnswer)
        #expect(await fetch(256..<384, Self.step("1020" + Self.none + Self.uid, "20" + segment)) == nil)
        #expect(await fetch(2040..<2049) == .lengthOverrun)
        let other = Type1Tag(
            target: Self.large,
            link: ScriptedLink([
                Self.step("000000" + Self.uid, "124c" + hex([1, 2, 3, 5]) + String(repeating: "aa", count: 116))
            ])
        )
        await #expect(throws: TagError(.badAnswer, "")) { try await other.fetch(0..<8) }
        let header = Type1Tag(
            target: Self.large,
            link: ScriptedLink([
                Self.step("000000" + Self.uid, "114c" + hex([1, 2, 3, 4]) + String(repeating: "aa", count: 116))
            ])
        )
        await #expect(throws: TagError(.badAnswer, "")) { try await header.fetch(0..<8) }
        let small = Type1Tag(
            target: Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4]),
            link: ScriptedLink([
                Self.step("000000" + Self.uid, "1148" + hex([1, 2, 3, 4]) + String(repeating: "aa", count: 116))
            ])
        )
        await #expect(throws: TagError(.lengthOverrun, "")) { try await small.fetch(112..<128) }
    }

    @Test func `A write is done when the tag holds what was written; without erasing, when its ones are there`()
        async throws
    {
        let small = Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
        for (target, request, unit, data, isErasing) in [
            (small, "5308", 8, "a5", true), (small, "1a08", 8, "a5", false),
            (Self.large, "5408", 8, "a5a5a5a5a5a5a5a5", true),
            (Self.large, "1b08", 8, "a5a5a5a5a5a5a5a5", false),
        ] {
            func write(_ answer: String) async -> TagError.Code? {
                let tag = Type1Tag(
                    target: target,
                    link: ScriptedLink([Self.step(request + data + Self.uid, answer).within(.milliseconds(10))])
                )
                do throws(TagError) {
                    try await tag.write(bytes(data), to: unit, isErasing: isErasing)
                    return nil
                } catch {
                    return error.code
                }
            }
            let (exact, elsewhere, long) = (
                await write("08" + data), await write("09" + data), await write("08" + data + "00")
            )
            #expect(exact == nil && elsewhere == .updateFailed && long == .updateFailed)
            let fewer = await write("08" + data.replacing("a5", with: "a4"))
            let more = await write("08" + data.replacing("a5", with: "ff"))
            #expect(fewer == .updateFailed && more == (isErasing ? .updateFailed : nil))
        }
        let silent = Self.step("5308a5" + Self.uid, .timeout)
        let thrice = ScriptedLink([silent, silent, silent])
        let lost = Type1Tag(target: small, link: thrice)
        await #expect(throws: TagError(.tagLost, "")) { try await lost.write([0xA5], to: 8) }
        #expect(thrice.remaining == 0)
        await #expect(throws: TagError(.tagLost, "")) { try await lost.write([0xA5], to: 8) }
        // The third time may be the one that is answered.
        let answered = Self.step("5308a5" + Self.uid, "08a5")
        let late = Type1Tag(target: small, link: ScriptedLink([silent, silent, answered]))
        try await late.write([0xA5], to: 8)
    }

    @Test func `What an answer for another address holds is not taken for what was written`() async {
        let small = Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
        let (tag, link) = Self.tag(Self.step("5308a5" + Self.uid, "09a5"), target: small)
        await #expect(throws: TagError(.updateFailed, "")) { try await tag.write([0xA5], to: 8) }
        #expect(tag.memory[byte: 8] == nil && link.remaining == 0)
    }

    @Test func `After a write whose answer was damaged the message is looked for again`() async throws {
        func all(_ area: String) -> Step {
            let memory = "0102030400000000 E1100E00" + area + String(repeating: "00", count: 104)
            return Self.step("000000" + Self.uid, "1148" + memory)
        }
        for (area, found): (String, [UInt8]) in [("0300AABB", []), ("0302AABB", [0xAA, 0xBB])] {
            let (tag, link) = Self.tag(
                all("0302AABB"),
                Self.step("530d00" + Self.uid, "0d0000"),
                all(area),
                target: Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
            )
            #expect(try await tag.readNDEF() == [0xAA, 0xBB])
            await #expect(throws: TagError(.updateFailed, "")) { try await tag.writeNDEF([0xCC]) }
            #expect(try await tag.readNDEF() == found)
            #expect(link.remaining == 0)
        }
    }

    @Test(
        arguments: [(.transmission, 3, .updateFailed), (.timeout, 3, .tagLost), (.tagRemoved, 1, .tagLost)]
            as [(LinkError.Code, Int, TagError.Code)]
    )
    func `A byte whose write was not confirmed is read again before it is trusted, also once the tag is back`(
        failure: LinkError.Code,
        attempts: Int,
        code: TagError.Code
    ) async throws {
        func all(_ area: String) -> Step {
            let memory = "0102030400000000 E1100E00" + area + String(repeating: "00", count: 104)
            return Self.step("000000" + Self.uid, "1148" + memory)
        }
        let write = Self.step("530d00" + Self.uid, failure)
        for (area, found): (String, [UInt8]) in [("0300AABB", []), ("0302AABB", [0xAA, 0xBB])] {
            let link = ScriptedLink([all("0302AABB")] + [Step](repeating: write, count: attempts) + [all(area)])
            let target = Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
            let tag = Type1Tag(target: target, link: link)
            #expect(try await tag.readNDEF() == [0xAA, 0xBB])
            #expect(await errorCode { () throws(TagError) in try await tag.writeNDEF([0xCC]) } == code)
            tag.wasActivated()
            #expect(try await tag.readNDEF() == found)
            #expect(link.remaining == 0)
        }
    }

    @Test func `The container says where the data area ends and what may be done`() throws {
        let whole = try Type1CapabilityContainer([0xE1, 0x10, 0x0E, 0x00])
        #expect(whole.area == 12..<120 && whole.isReadable && whole.isWritable)
        #expect(try Type1CapabilityContainer([0xE1, 0x1F, 0x3F, 0x0F]).area == 12..<512)
        #expect(try Type1CapabilityContainer([0xE1, 0x10, 0x00, 0x0F]).area.isEmpty)
        #expect(
            try !Type1CapabilityContainer([0xE1, 0x10, 0x0E, 0x0F]).isWritable
                && Type1CapabilityContainer([0xE1, 0x10, 0x0E, 0x0F]).isReadable
        )
        #expect(try !Type1CapabilityContainer([0xE1, 0x10, 0x0E, 0x10]).isReadable)
        for (container, code): ([UInt8], TagError.Code) in [
            ([0xE2, 0x10, 0x0E, 0], .noCapabilityContainer), ([0xE1, 0x10, 0x0E], .noCapabilityContainer),
            ([0xE1, 0x20, 0x0E, 0], .badVersion),
        ] {
            #expect(throws: TagError(code, "")) { try Type1CapabilityContainer(container) }
        }
    }

    @Test func `A small tag whose container promises a large memory is not written beyond its own`() async throws {
        let memory = "0102030400000000" + "E110FF00" + "0300FE00" + String(repeating: "00", count: 104)
        for length in [91, 130, 300] {
            let (tag, link) = Self.tag(
                Self.step("000000 01020304", "1148" + memory),
                target: Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [1, 2, 3, 4])
            )
            await #expect(throws: TagError(.lengthOverrun, "")) {
                try await tag.writeNDEF([UInt8](repeating: 7, count: length))
            }
            #expect(link.remaining == 0)
        }
    }
}
