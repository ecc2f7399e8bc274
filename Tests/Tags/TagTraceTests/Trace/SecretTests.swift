// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Which bytes of an exchange are secret: passwords, PINs and keys that are sent in clear.
struct SecretTests {
    /// Bytes in hex, with the secret ones in braces.
    private struct Marked {
        var bytes: [UInt8] = []
        var secrets: [Range<Int>] = []

        init(_ text: Substring) throws {
            for part in text.filter({ $0 != " " }).split(separator: "{", omittingEmptySubsequences: false) {
                let pieces = part.split(separator: "}", omittingEmptySubsequences: false)
                let start = bytes.count
                for piece in pieces { bytes += try #require([UInt8](hexadecimal: piece.utf8), "\(text)") }
                if pieces.count == 2 { secrets.append(start..<start + pieces[0].utf8.count / 2) }
            }
        }
    }

    @Test func `secret finder: the marked bytes of each exchange in secrets.txt, and no others`() throws {
        var (finder, title, count) = (SecretFinder(), "", 0)
        for line in try Transcript.text(of: "secrets.txt").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.hasPrefix("# ") {
                finder = SecretFinder()
                if !line.isEmpty { title = String(line) }
                continue
            }
            guard line != "field" else {
                finder.fieldChanged()
                continue
            }
            count += 1
            let sides = line.split(separator: ">", omittingEmptySubsequences: false)
            let medium = sides[0].filter { $0 != " " }
            let frames = try sides[1].split(separator: "<", omittingEmptySubsequences: false).map(Marked.init)
            let request = frames[0]
            let found =
                try medium == "chip"
                ? finder.secrets(inChipCommand: request.bytes)
                : finder.secrets(in: request.bytes, over: #require(Transcript.media[Substring(medium)]))
            #expect(found == request.secrets, "\(title): \(line)")
            if let answer = frames.dropFirst().first {
                #expect(finder.secrets(inAnswer: answer.bytes) == answer.secrets, "\(title): \(line)")
            }
        }
        #expect(count > 190)
    }

    @Test(
        arguments: [
            (4, 0x0B, 0x12..<0x14), (3, 0x0B, 0x12..<0x14), (3, 0x0E, 0x27..<0x29), (4, 0x0E, 0x27..<0x29),
            (3, 0x0F, 0x30..<0x38), (4, 0x0F, 0x2B..<0x2D), (4, 0x11, 0x85..<0x87), (4, 0x13, 0xE5..<0xE7),
            (4, 0x15, 0xE5..<0xE7), (3, 0x11, 0..<0), (3, 0x13, 0..<0), (4, 0x55, 0..<0),
        ] as [(UInt8, UInt8, Range<Int>)]
    )
    func `Type 2 version: the secret pages are those of the product, and no other page`(
        type: UInt8,
        size: UInt8,
        pages: Range<Int>
    ) {
        for (maker, secret) in [(UInt8(4), pages), (5, 0..<0)] {
            for page: UInt8 in .min ... .max {
                var finder = SecretFinder()
                _ = finder.secrets(in: [0x60], over: .frames(.nfcA))
                _ = finder.secrets(inAnswer: [0, maker, type, 2, 1, 0, size, 3])
                let found = finder.secrets(in: [0xA2, page, 1, 2, 3, 4], over: .frames(.nfcA))
                #expect(found == (secret.contains(Int(page)) ? [2..<6] : []), "page \(page)")
            }
        }
    }

    @Test func `password in a frame with its host's checksum: neither is shown`() {
        let password: [UInt8] = [0x1B, 0x7A, 0x51, 0x39, 0x6B]
        let checksum = Technology.nfcA.checksum(password)
        for (frame, secrets) in [
            (Frame(password), [1..<5]), (Frame(password + checksum, checksum: .none), [1..<7]),
            (Frame([0x60] + Technology.nfcA.checksum([0x60]), checksum: .none), []),
        ] {
            var finder = SecretFinder()
            #expect(finder.secrets(in: frame, over: .frames(.nfcA)) == secrets, "\(frame)")
        }
    }

    @Test func `secret finder, any bytes: every range is within them`() {
        var finder = SecretFinder()
        let media: [Trace.Medium] = [.commands] + Technology.allCases.map { .frames($0) }
        let starts: [[UInt8]] = [
            [], [0x1B], [0xA2], [0xA0, 0x2B], [0xE0, 0x80], [0x02, 0, 0x20], [0xFF, 0x82], [0xFF, 0xD6, 0, 3, 16],
            [0xFF, 0, 0, 0, 9, 0xD4, 0x40], [0xFF, 0, 0, 0, 9, 0xD4, 0x42], [0, 0x08], [0x22, 0xB3, 0x04], [0x12],
        ]
        for _ in 0..<5000 {
            let rest = (0..<Int.random(in: 0...24)).map { _ in UInt8.random(in: 0...255) }
            let request = (starts.randomElement() ?? []) + rest
            let places = finder.secrets(in: request, over: media.randomElement() ?? .commands)
            #expect(places.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= request.count })
            #expect(finder.secrets(inAnswer: rest).allSatisfy { $0.upperBound <= rest.count })
        }
    }
}
