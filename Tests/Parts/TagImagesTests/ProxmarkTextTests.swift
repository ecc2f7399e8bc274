// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Proxmark3 text files` {
    @Test(arguments: [("hf-mfu-ntag215-dump.eml", "hf-mfu-ntag215-dump.bin"), ("hf-mf-1k-dump.eml", "classic-1k.mfd")])
    func `A text file holds what the binary one does`(text: String, binary: String) throws {
        #expect(try Files.image(text).contents == Files.image(binary).contents)
    }

    @Test func `A text file that is written again keeps its comments, its spaces and its case`() throws {
        var image = try Files.image("hf-mf-1k-dump.eml")
        guard case .classic(var contents) = image.contents else { throw TagImageError(.unsupported, "") }
        contents.memory[16] = 0xAB
        image.contents = .classic(contents)
        let (old, new) = (try Files.dump("hf-mf-1k-dump.eml"), try image.encoded())
        let lines = [old, new].map { $0.split(separator: 0x0A, omittingEmptySubsequences: false) }
        #expect(lines[0].count == lines[1].count)
        let different = lines[0].indices.filter { lines[0][$0] != lines[1][$0] }
        // The first line is a comment, the second block 0.
        #expect(different == [2])
        #expect(String(decoding: lines[1][2], as: UTF8.self).hasPrefix("ab "))
        #expect(try TagImage(parsing: new).contents == image.contents)
    }

    @Test(
        "A byte order mark is no part of the first line, a comment or not, and stays when the tag is changed",
        arguments: ["hf-mf-1k-dump.eml", "hf-mfu-ntag215-dump.eml"]
    )
    func byteOrderMarks(name: String) throws {
        let (mark, bytes): ([UInt8], [UInt8]) = ([0xEF, 0xBB, 0xBF], try Files.dump(name))
        var image = try TagImage(parsing: bytes)
        var marked = try TagImage(parsing: mark + bytes)
        #expect(marked.format == .proxmarkText && marked.contents == image.contents)
        #expect(try marked.encoded() == mark + bytes)
        switch image.contents {
        case .classic(var card):
            card.memory[16] ^= 0xFF
            image.contents = .classic(card)
        case .type2(var tag):
            tag.memory[16] ^= 0xFF
            image.contents = .type2(tag)
        default: throw TagImageError(.unsupported, "")
        }
        marked.contents = image.contents
        let changed = try image.encoded()
        #expect(changed != bytes)
        #expect(try marked.encoded() == mark + changed)
        let text = try "\u{FEFF}" + Files.text(name)
        let fault = text.replacing("00 00", with: "?? 00", maxReplacements: 1)
            .replacing("\n00000000\n", with: "\n?0000000\n", maxReplacements: 1)
        let error = try #require(Files.failure(fault))
        #expect(error.code == .malformed && error.line == fault.prefix { $0 != "?" }.count(where: \.isNewline) + 1)
    }

    @Test func `A new text file has a page or a block on each line`() throws {
        let ntag = try TagImage(.type2(Type2Contents(blank: .ntag213, uid: Script.uid)), format: .proxmarkText)
            .encoded()
        let lines = ntag.split(separator: 0x0A)
        #expect(lines.count == 14 + 45 && lines.allSatisfy { $0.count == 8 })
        #expect(String(decoding: lines[0], as: UTF8.self) == "00040402")
    }

    @Test(arguments: [
        ("hf-mf-1k-dump.eml", "ff ff ff ff ff ff", "ff ff ff ff ff", TagImageError.Code.malformed, 9),
        ("hf-mf-1k-dump.eml", "ff ff ff ff ff ff", "?? ff ff ff ff ff", .malformed, 9),
        ("hf-mfu-ntag215-dump.eml", "\n00000000\n", "\n0000000\n", .malformed, 12),
        ("hf-mfu-ntag215-dump.eml", "E1103E00\n", "", .missingField, 0),
    ])
    func `A line that is not like the others is named, and a line that is missing is noticed`(
        file: String,
        original: String,
        fault: String,
        code: TagImageError.Code,
        line: Int
    ) throws {
        let error = try #require(try Files.failure(file, original, fault))
        #expect(error.code == code, "\(error)")
        #expect(error.line ?? 0 == line)
    }

    @Test func `Lines of another tag are refused with their size`() {
        let text = Array(repeating: "0011223344556677", count: 5).joined(separator: "\n")
        let error = #expect(throws: TagImageError.self) { try TagImage(parsing: Array(text.utf8)) }
        #expect(error?.code == .unknownFormat)
        #expect(error?.reason.contains("The lines have 40 bytes") == true)
    }
}
