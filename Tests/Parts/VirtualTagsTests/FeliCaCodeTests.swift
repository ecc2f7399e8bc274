// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `FeliCa Lite-S with a card key` {
    private let idm = "02 fe 00 11 22 33 44 55"
    private let cardKey: [UInt8] = Array(0x10..<0x20)
    private let challenge: [UInt8] = Array(0x80..<0x90)
    private let zero = [UInt8](repeating: 0, count: 16)

    private func makeScript(_ change: (inout FeliCaLiteSContents) -> Void = { _ in }) throws -> (
        LinkScript, VirtualType3Tag
    ) {
        var contents = FeliCaLiteSContents(idm: hex(idm))
        contents.cardKey = cardKey
        change(&contents)
        let tag = VirtualType3Tag(contents)
        return (try LinkScript(.nfcF, tag), tag)
    }

    private func send(_ script: LinkScript, _ body: [UInt8]) async -> [UInt8] {
        hex(await script.send(hexText([UInt8(body.count + 1)] + body)))
    }

    /// Reads blocks: status flags, and the bytes.
    private func read(_ script: LinkScript, _ blocks: UInt8...) async -> (status: [UInt8], data: [UInt8]) {
        let list = blocks.flatMap { number -> [UInt8] in [0x80, number] }
        let answer = await send(script, [0x06] + hex(idm) + [1, 0x0B, 0, UInt8(blocks.count)] + list)
        return (Array(answer.dropFirst(10).prefix(2)), Array(answer.dropFirst(13)))
    }

    /// Writes a block, with a code where there is one to be worked out.
    private func write(
        _ script: LinkScript,
        _ block: UInt8,
        _ data: [UInt8],
        _ codes: FeliCaLiteCodes? = nil,
        counter: UInt32 = 0
    ) async throws -> [UInt8] {
        var list: [UInt8] = [0x80, block]
        var bytes = data
        if let codes {
            list += [0x80, 0x91]
            bytes += try codes.writeCode(block: block, data: data, counter: counter)
            bytes += [UInt8(counter & 0xFF), UInt8(counter >> 8 & 0xFF), UInt8(counter >> 16), 0, 0, 0, 0, 0]
        }
        let head = [0x08] + hex(idm) + [1, 0x09, 0, UInt8(list.count / 2)] + list
        return Array(await send(script, head + bytes).dropFirst(10).prefix(2))
    }

    private func codes() throws -> FeliCaLiteCodes {
        try FeliCaLiteCodes(cardKey: cardKey, challenge: challenge)
    }

    @Test func `Codes over what is read, and refusals without a challenge`() async throws {
        let (script, _) = try makeScript()
        #expect(await read(script, 0x82, 0x91).status == [0x02, 0xB2])
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        let lite = await read(script, 0x82, 0x81)
        #expect(Array(lite.data[16...]) == (try codes().mac(Array(lite.data[..<16]))) + zero[..<8])
        let answer = await read(script, 0x00, 0x82, 0x91)
        let expected = try codes().readCode(blocks: [0x00, 0x82, 0x91], data: Array(answer.data[..<32]))
        #expect(Array(answer.data[32..<40]) == expected)
        #expect(await read(script, 0x82, 0x81, 0x91).status == [0x04, 0xB0])
    }

    @Test func `The card key reads as zero, and a changed one gives other codes`() async throws {
        let (script, _) = try makeScript()
        #expect(await read(script, 0x87).data == zero)
        let other = Array(cardKey.reversed())
        #expect(try await write(script, 0x87, other) == [0, 0])
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        let answer = await read(script, 0x82, 0x91)
        let expected = try FeliCaLiteCodes(cardKey: other, challenge: challenge)
        #expect(
            Array(answer.data[16..<24])
                == (try expected.readCode(blocks: [0x82, 0x91], data: Array(answer.data[..<16])))
        )
    }

    @Test func `STATE written with a code authenticates the reader, until the power goes`() async throws {
        let (script, _) = try makeScript {
            $0.memoryConfiguration[6] = 0x02
            $0.memoryConfiguration[8] = 0x04
            $0.memoryConfiguration[12] = 0x01
        }
        #expect(await read(script, 0x01).status == [0x01, 0xB1])
        #expect(try await write(script, 0x02, challenge) == [0x01, 0xB1])
        let open = [0x01] + zero.dropFirst()
        #expect(try await write(script, 0x92, open) == [0x01, 0xA5])
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        #expect(try await write(script, 0x92, open, codes(), counter: 1) == [0x02, 0xB2])
        #expect(try await write(script, 0x92, open, codes()) == [0, 0])
        #expect(await read(script, 0x92, 0x90).data == open + [1] + zero.dropFirst())
        #expect(await read(script, 0x01).status == [0, 0])
        #expect(try await write(script, 0x02, challenge) == [0, 0])
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        #expect(await read(script, 0x01).status == [0x01, 0xB1])
    }

    @Test func `A challenge is forgotten without power`() async throws {
        let (script, _) = try makeScript()
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        #expect(await read(script, 0x82, 0x91).status == [0x00, 0x00])
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        #expect(await read(script, 0x82, 0x91).status == [0x02, 0xB2])
        #expect(try await write(script, 0x03, challenge, codes()) == [0x02, 0xB2])
    }

    @Test func `A block that wants a code takes it once, with the right counter`() async throws {
        let (script, tag) = try makeScript { $0.memoryConfiguration[10] = 0x08 }
        #expect(try await write(script, 0x03, challenge) == [0x01, 0xA5])
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        #expect(try await write(script, 0x03, challenge, codes()) == [0, 0])
        #expect(try await write(script, 0x03, zero, codes()) == [0x02, 0xB2])
        #expect(try await write(script, 0x03, zero, codes(), counter: 1) == [0, 0])
        guard case .liteS(let contents) = tag.contents else { return }
        #expect(contents.writeCounter == 2)
    }

    @Test func `Freezing the system blocks resets the counter, and the key still changes with a code`() async throws {
        let (script, _) = try makeScript { $0.writeCounter = 0xFF_FE10 }
        let frozen = hex("ff ff 00 01 07 01 00 00 00 00 00 00 00 00 00 00")
        #expect(try await write(script, 0x88, frozen) == [0, 0])
        #expect(await read(script, 0x90).data == zero)
        #expect(try await write(script, 0x87, zero) == [0x01, 0xA5])
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        #expect(try await write(script, 0x87, zero, codes()) == [0, 0])
    }

    @Test func `At the end of the counter no code is taken any more`() async throws {
        let (script, _) = try makeScript {
            $0.memoryConfiguration[2] = 0x00
            $0.writeCounter = 0xFF_FDFF
        }
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        #expect(try await write(script, 0x03, zero, codes(), counter: 0xFF_FDFF) == [0, 0])
        #expect(try await write(script, 0x03, zero, codes(), counter: 0xFF_FE00) == [0x02, 0xB2])
    }

    @Test(arguments: [false, true])
    func `Once frozen, the key and its version change with a code alone, and where the configuration lets them`(
        isAllowed: Bool
    ) async throws {
        let (script, tag) = try makeScript {
            $0.memoryConfiguration.replaceSubrange(2..<6, with: [0x00, 0x01, 0x07, isAllowed ? 0x01 : 0x00])
        }
        for block: UInt8 in [0x82, 0x84, 0x86, 0x87, 0x88] {
            #expect(try await write(script, block, challenge) == [0x01, 0xA5], "\(block)")
        }
        #expect(try await write(script, 0x80, challenge) == [0, 0])
        var counter: UInt32 = 0
        for block: UInt8 in [0x86, 0x87] {
            let status = try await write(script, block, Array(cardKey.reversed()), codes(), counter: counter)
            #expect(status == (isAllowed ? [0, 0] : [0x01, 0xA5]), "\(block)")
            if isAllowed { counter += 1 }
        }
        for block: UInt8 in [0x82, 0x84, 0x88] {
            #expect(try await write(script, block, challenge, codes(), counter: counter) == [0x01, 0xA5], "\(block)")
        }
        guard case .liteS(let contents) = tag.contents else { return }
        #expect(contents.writeCounter == counter)
        #expect(contents.cardKey == (isAllowed ? Array(cardKey.reversed()) : cardKey))
    }

    @Test func `Once frozen, the counter stops at FFFE00, and blocks that want no code are still written`() async throws
    {
        let (script, _) = try makeScript {
            $0.memoryConfiguration[2] = 0x00
            $0.writeCounter = 0xFF_FDFF
        }
        for _ in 0..<2 {
            #expect(try await write(script, 0x03, challenge) == [0, 0])
            #expect(await read(script, 0x90).data.prefix(3) == [0x00, 0xFE, 0xFF])
        }
    }

    @Test func `The last three bytes of the configuration stay zero`() async throws {
        let (script, _) = try makeScript()
        let open = await read(script, 0x88).data
        #expect(try await write(script, 0x88, Array(open.prefix(13)) + [0xAA, 0xBB, 0xCC]) == [0, 0])
        #expect(await read(script, 0x88).data == Array(open.prefix(13)) + [0, 0, 0])
    }
}
