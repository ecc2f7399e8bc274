// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `Files that nfc writes` {
    private let images: Images
    private let folder: String

    init() throws {
        images = try Images()
        folder = images.folder.path("")
        let copy = images.folder.path("card.nfc")
        try FileManager.default.moveItem(atPath: images.blank("NTAG213"), toPath: copy)
    }

    /// Runs a script and compares its output.
    private func expect(_ script: String, _ output: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let outcome = try Command.shell(script, in: folder)
        #expect(outcome.output == output, "\(outcome.error)", sourceLocation: sourceLocation)
    }

    // MARK: Regular files

    @Test(arguments: ["tag write --image card.nfc --text a", "write --tags card.nfc --text a"])
    func `An image that is saved keeps its mode, its links and the names of others`(command: String) throws {
        try expect(
            """
            chmod 600 card.nfc; ln card.nfc hard.nfc; ln -s card.nfc soft.nfc; touch victim
            nfc \(command) >/dev/null
            stat -c '%a %h' card.nfc; cmp card.nfc hard.nfc && echo same; readlink soft.nfc
            rm hard.nfc
            nfc \(command.replacingOccurrences(of: "card.nfc", with: "soft.nfc")) >/dev/null
            stat -c '%a %h' card.nfc; readlink soft.nfc; ls
            """,
            "600 2\nsame\ncard.nfc\n600 1\ncard.nfc\ncard.nfc\nsoft.nfc\nvictim\n"
        )
    }

    @Test func `A new image is its owner's alone where it has other keys than the delivered ones, or a passport`()
        throws
    {
        try expect(
            """
            umask 022
            make() { nfc tag create --out "$1" "${@:2}" >/dev/null; }
            make plain.nfc --product NTAG215
            make c.nfc --product 'Ultralight C'
            make slix.json --product slix2
            make desfire.json --product 'DESFire EV1 4K'
            make classic.nfc --product 'MIFARE Classic 1K' --uid 01020304
            make dna.json --product 'NTAG 424 DNA'
            # Another key B, of sector 1.
            sed '/^Block 7:/s/FF FF$/FF FE/' classic.nfc > changed-classic.nfc
            nfc tag convert changed-classic.nfc --out classic-key.json >/dev/null
            make passport.json --mrz 'P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10'
            # Another password, in page 43.
            sed 's/^Page 43: .*/Page 43: 01 02 03 04/' card.nfc > changed.nfc
            nfc tag convert changed.nfc --out password.json >/dev/null
            nfc tag convert card.nfc --out no-password.json >/dev/null
            umask 077
            make mine.nfc --product NTAG215
            stat -c '%a %n' plain.nfc c.nfc slix.json desfire.json classic.nfc dna.json classic-key.json passport.json \
                password.json no-password.json mine.nfc
            """,
            """
            644 plain.nfc
            644 c.nfc
            644 slix.json
            644 desfire.json
            644 classic.nfc
            644 dna.json
            600 classic-key.json
            600 passport.json
            600 password.json
            644 no-password.json
            600 mine.nfc

            """
        )
    }

    @Test func `A disk that is full leaves the image as it was, and says so`() throws {
        try expect(
            """
            cp card.nfc before.nfc; ln card.nfc hard.nfc
            trap '' XFSZ; ulimit -f 1
            nfc tag write --image card.nfc --text a >/dev/null; echo $?
            nfc tag create --product NTAG215 --out new.nfc >/dev/null; echo $?
            nfc write --tags card.nfc --text a --json | grep -o unwritable-file
            rm hard.nfc; nfc tag write --image card.nfc --text a >/dev/null; echo $?
            cmp card.nfc before.nfc && ls -A
            """,
            "1\n1\nunwritable-file\n1\nbefore.nfc\ncard.nfc\n"
        )
    }

    @Test func `No file is replaced by an image but an empty one and the image of a tag`() throws {
        try expect(
            """
            echo 'important notes' > notes.json; cp notes.json notes.bin; echo '{"type":"module"}' > package.json
            cp \(Images.dump("taginfo-ntag213.xml")) report; head -c 300000 /dev/zero > large.bin
            sums() { cksum notes.json notes.bin package.json report large.bin; }
            sums > before
            refused() { "$@" --json | grep -o '"error":"not-an-image"\\|no image that nfc writes. Name another file.'; }
            refused nfc tag create --product NTAG213 --out notes.json
            refused nfc tag convert card.nfc --out notes.bin
            refused nfc tag convert card.nfc --to json --out report
            refused nfc tag convert card.nfc --out large.bin
            refused nfc tag write --image card.nfc --out package.json --text a
            refused nfc tag read --image card.nfc --out notes.bin
            refused nfc emulate --image card.nfc --pn532 line --timeout 0.2 --out notes.json
            sums | cmp - before && echo same
            : > new.json
            for product in NTAG213 NTAG215; do
                nfc tag create --product $product --out new.json >/dev/null; echo $?
            done
            nfc tag convert card.nfc --to proxmark-bin --out new.json >/dev/null; echo $?
            nfc tag convert card.nfc --out new.json >/dev/null; echo $?
            """,
            String(
                repeating: "\"error\":\"not-an-image\"\nno image that nfc writes. Name another file.\n",
                count: 7
            ) + "same\n0\n0\n0\n0\n"
        )
    }

    // MARK: What is no file

    @Test func `Pipes and devices are written to and stay what they are`() throws {
        try expect(
            """
            mkfifo pipe; cat pipe > got & sleep 0.1
            nfc tag write --image card.nfc --out pipe --text a >/dev/null; echo $?; wait; head -n 1 got
            nfc tag write --image card.nfc --out /dev/null --text a >/dev/null; echo $?
            nfc tag write --image card.nfc --out /dev/full --text a; echo $?
            nfc tag write --image card.nfc --out pipe --text a; echo $?
            nfc tag write --image card.nfc --out . --text a; echo $?
            stat -c %F pipe /dev/null /dev/full
            """,
            """
            0
            Filetype: Flipper NFC device
            0
            1
            1
            1
            fifo
            character special file
            character special file

            """
        )
    }

    @Test func `A hyphen is standard input and standard output, and the report goes to standard error`() throws {
        try expect(
            """
            nfc tag write --image - --out - --text Hi < card.nfc 2> report > new.nfc; echo $?
            nfc tag read --image new.nfc --json | grep -o 'd101055402656e4869'; grep -c UID report
            nfc tag convert - --to json --out - < card.nfc 2>/dev/null | nfc tag read --image - --json | grep -o '"ok":true'
            nfc tag create --product NTAG213 --format json --out /dev/stdout 2>/dev/null | head -c 7; echo
            nfc tag write --image - --text Hi < card.nfc; echo $?
            nfc tag write --image <(cat card.nfc) --text Hi; echo $?
            nfc tag create --product NTAG213 --format json --out - --json | grep -o '"error":"usage"'
            nfc emulate --image card.nfc --pn532 line --out -; echo $?
            nfc emulate --image - --pn532 line --out new.nfc --commands; echo $?
            nfc scan --record -; echo $?
            """,
            """
            0
            d101055402656e4869
            1
            "ok":true
            {"type"
            2
            2
            "error":"usage"
            2
            2
            2

            """
        )
    }

    @Test func `A recording that is there is closed to others`() throws {
        try expect(
            """
            nfc scan --tags card.nfc --record rec >/dev/null; stat -c %a rec; chmod 644 rec
            nfc scan --tags card.nfc --record rec >/dev/null; stat -c %a rec
            nfc scan --tags card.nfc --record /dev/full >/dev/null; echo $?
            mkfifo pipe; nfc scan --tags card.nfc --record pipe --json | grep -o unwritable-file
            """,
            "600\n600\n1\nunwritable-file\n"
        )
    }

    @Test func `A recording on a disk that is full is a failure alone, and leaves no empty file`() throws {
        try expect(
            """
            trap '' XFSZ
            (ulimit -f 0; nfc scan --tags card.nfc --record rec --json; echo $?) | grep -o '"ok":[a-z]*\\|unwrit[a-z-]*\\|^[0-9]$'
            ls rec
            (ulimit -f 1; nfc scan --tags card.nfc --record rec --json; echo $?) | grep -o '"ok":[a-z]*\\|unwrit[a-z-]*\\|^[0-9]$'
            stat -c %s rec
            """,
            """
            "ok":false
            unwritable-file
            1
            "ok":false
            unwritable-file
            1
            1024

            """
        )
    }
}
