// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Commands of MIFARE DESFire that need no key (MF3ICDx21; NXP AN10787 and AN11004).
struct DESFireTests {
    private func make(_ text: String) throws -> Stage {
        desfireStage(try desfire(text.isEmpty ? "ndef" : text))
    }

    @Test func `DESFire activation: ATS and GET VERSION are those of the product`() async throws {
        let uid = hex("04 11 22 33 44 55 66")
        try await play(
            """
            == GET VERSION over ISO-DEP
            wake; e0 80 -> 06 75 77 81 02 80; 02 60 -> 02 af 04 01 01 01 00 18 05; 03 af -> 03 af 04 01 01 01 04 18 05
            02 af -> 02 00 04 11 22 33 44 55 66 ba 54 45 72 80 23 21
            """
        ) { _ in
            let tag = VirtualType4Tag(DESFireContents.ndef())
            #expect(tag.identifier == uid)
            return try Stage(.nfcA, [tag])
        }
        let generations: [(String, DESFireContents.Generation)] = [
            ("", .ev1), ("04 01 01", .ev1), ("04 01 01 01", .ev1), ("04 01 01 12", .ev2), ("04 01 01 33", .ev3),
            ("02 02 02 30", .ev1),
        ]
        for (version, generation) in generations {
            var contents = DESFireContents()
            contents.version = hex(version)
            #expect(contents.generation == generation, "\(version)")
        }
        try await play(
            """
            == GET VERSION wrapped in APDUs
            tag ndef; size = 8
            90 60 00 00 00 -> 04 01 01 01 00 1a 05 91 af; 90 af 00 00 00 -> 04 01 01 01 04 1a 05 91 af
            90 af 00 00 00 -> 04 11 22 33 44 55 66 ba 54 45 72 80 23 21 91 00; 90 af 00 00 00 -> 91 1c
            == A wrapped command has no parameters, and may lack Le
            90 60 01 00 00 -> 6a 86; 90 60 00 01 00 -> 6a 86; 90 6e 01 00 00 -> 6a 86
            90 60 00 00 -> 04 01 01 01 00 18 05 91 af
            == A new command before the last frame is refused, and ends the one before it
            60 -> af 04 01 01 01 00 18 05; 5a 01 00 00 -> ca; af -> 1c; 5a 01 00 00 -> 00
            3d 02 00 00 00 03 00 00 aa -> af; bd 02 00 00 00 03 00 00 -> ca; af bb cc -> 1c
            bd 02 00 00 00 03 00 00 -> 00 00 00 00; 90 60 00 00 00 -> .. 91 af; 90 6f 00 00 00 -> 91 ca
            90 6f 00 00 00 -> 01 02 91 00
            == A loss of power forgets the rest of an answer, a challenge and the application
            60 -> af ..; power; af -> 1c; 0a 00 -> #9; power; af -> 1c; app; power; 6f -> 9d
            == After an ISO command, native commands are refused outside APDUs until the next activation
            tag ndef
            60 -> af ..; SELECT -> 90 00; 60 -> 0b; 5a 01 00 00 -> 0b; af -> 0b; 90 6f 00 00 00 -> 01 02 91 00
            6f -> 0b; power; 60 -> af ..
            == READ SIGNATURE has a status of its own
            tag blank; ev2
            3c 00 -> 90 00*56; 90 3c 00 00 01 00 00 -> 00*56 91 90; 3c 01 -> 9e; 3c -> 9e; 6a -> 00
            tag blank; ev3
            3c 00 -> 90 00*56
            tag blank
            3c 00 -> 1c
            """,
            on: make
        )
    }

    @Test func `DESFire ISO commands: SELECT finds files, READ and UPDATE BINARY work up to MLe, MLc and their ends`()
        async throws
    {
        for (size, bytes) in [("2", "08 00"), ("4", "10 00"), ("8", "1e 00")] {
            try await play(
                """
                == The container, limits of 59 and 52 bytes, and ends of files
                tag ndef; size = \(size)
                SELECT -> 90 00; 00 a4 00 0c 02 e1 03 -> 90 00
                00 b0 00 00 0f -> 00 0f 20 00 3b 00 34 04 06 e1 04 \(bytes) 00 00 90 00; 00 d6 00 0e 01 ff -> 69 82
                00 a4 00 0c 02 e1 04 -> 90 00; 00 d6 00 00 05 00 03 d0 00 00 -> 90 00
                00 b0 00 00 3b -> 00 03 d0 00*56 90 00; 00 b0 00 00 3c -> 67 00; 00 b0 82 00 02 -> 00 03 90 00
                00 d6 00 00 35 00*53 -> 67 00; 00 b0 7f 00 01 -> 6b 00; 00 b0 85 00 01 -> 6a 82
                """,
                on: make
            )
        }
        try await play(
            """
            == SELECT goes from the card to the application and its files
            00 a4 00 0c 02 e1 03 -> 6a 82; 00 a4 00 0c 02 e1 10 -> 90 00; 00 b0 00 00 01 -> 69 86
            00 a4 00 0c 02 e1 03 -> 90 00; 00 a4 00 0c 02 3f 00 -> 90 00; 00 b0 00 00 01 -> 69 86
            00 a4 00 0c 02 e1 04 -> 6a 82; NAME 00 -> 90 00; 00 a4 09 00 02 e1 03 -> 6a 86
            == The name of the card selects it, and that of an application the application
            NAME 01 -> 90 00; 00 b0 81 00 02 -> 00 0f 90 00; NAME 00 -> 90 00; 00 b0 81 00 02 -> 6a 82
            90 6a 00 00 00 -> 01 00 00 91 00; NAME 02 -> 6a 82; 00 a4 04 00 -> 67 00; 00 a4 04 00 11 41*17 -> 67 00
            == A short identifier selects its file, and a reading may end with the file
            SELECT -> 90 00; 00 b0 00 00 01 -> 69 86; 00 b0 81 00 02 -> 00 0f 90 00; 00 b0 00 02 01 -> 20 90 00
            00 b0 00 0e 01 -> 00 90 00; 00 b0 00 0e 02 -> 00 62 82; 00 b0 00 0d 00 -> 00 00 90 00
            00 b0 81 0f 01 -> 6b 00; 00 b0 81 00 01 aa 01 -> 67 00
            == UPDATE BINARY reaches the last byte, and takes 3 ms for each 32 bytes
            tag ndef; size = 2
            SELECT -> 90 00; 00 d6 82 00 34 55*52 -> 90 00; work -> 6; 00 d6 82 00 20 55*32 -> 90 00; work -> 3
            00 d6 82 00 21 55*33 -> 90 00; work -> 6; 00 a4 00 0c 02 e1 04 -> 90 00; 00 d6 07 ff 01 55 -> 90 00
            work -> 3; 00 d6 07 ff 02 55 55 -> 6a 84; 00 d6 08 00 01 55 -> 6b 00
            90 60 00 00 00 -> .. 91 af; work -> no write
            == ISO commands are refused where data have to be enciphered
            tag app; keys = 82; 1 = standard 00*16; mode 1 = 03; rights 1 = 1110
            mark; app; 00 b0 81 00 02 -> 69 82; 00 d6 81 00 01 55 -> 69 82; power
            app; auth aa 1 -> 00; 00 b0 81 00 02 -> 69 85
            00 d6 81 00 01 55 -> 69 85; changed -> no
            == A selection forgets the file, and so does a loss of power
            tag app; 1 = standard 07; iso 1 = e101; 2 = backup 00; apps = 2
            app; 00 a4 02 0c 02 e1 01 -> 90 00; 90 3d 00 00 08 02 00 00 00 01 00 00 aa 00 -> 91 00
            90 5a 00 00 03 01 00 00 00 -> 91 00; 00 b0 00 00 01 -> 69 86; 90 c7 00 00 00 -> 91 0c
            00 a4 02 0c 02 e1 01 -> 90 00; 90 5a 00 00 03 02 00 00 00 -> 91 00; 00 b0 00 00 01 -> 69 86
            90 5a 00 00 03 09 00 00 00 -> 91 a0; 90 6f 00 00 00 -> 91 00
            """,
            on: make
        )
    }

    @Test func `DESFire applications: created, listed and deleted within their limits`() async throws {
        let selectable = "21 10 e1 d2 76 00 00 85 01 01"
        try await play(
            """
            == A blank card becomes an NDEF tag without a key
            tag blank; size = 2
            SELECT -> 6a 82; 90 5a 00 00 03 00*4 -> 91 00; 90 ca 00 00 0e 01 00 00 0f \(selectable) 00 -> 91 00
            90 5a 00 00 03 01 00 00 00 -> 91 00; 90 cd 00 00 09 01 03 e1 00 ee ee 0f 00 00 00 -> 91 00
            90 cd 00 00 09 02 04 e1 00 ee ee 00 08 00 00 -> 91 00
            90 cd 00 00 09 02 04 e1 00 ee ee 00 08 00 00 -> 91 de
            90 cd 00 00 09 03 05 e1 00 ee ee 00 10 00 00 -> 91 0e; SELECT -> 90 00; 00 a4 00 0c 02 e1 03 -> 90 00
            00 d6 00 00 01 00 -> 90 00
            == CREATE APPLICATION: 1 to 14 keys of one kind, an identifier, and perhaps a name of 16 bytes
            tag blank; size = 2
            ca 01 00 00 0f 00 -> 9e; ca 01 00 00 0f 0f -> 9e; ca 01 00 00 0f c1 -> 9e; ca 00 00 00 0f 01 -> 9e
            ca 01 00 00 0f -> 7e; ca 01 00 00 0f 01 00 -> 7e; ca 01 00 00 0f 21 10 e1 41*17 -> 7e
            ca 01 00 00 0f 0e -> 00; ca 01 00 00 0f 01 -> de; ca 02 00 00 0f 21 10 e1 41*16 -> 00
            6a -> 00 01 00 00 02 00 00; 6d -> 00 02 00 00 10 e1 41*16; app; ca 03 00 00 0f 01 -> 9d; 6a -> 9d
            == Where the card's settings want its key, nothing is created or deleted without it
            tag app; card = 0b; apps = 2
            ca 05 00 00 0f 01 -> ae; da 01 00 00 -> ae; app; da 01 00 00 -> ae; auth 0a 0 -> 00; pp da 01 00 00 -> ae
            forget; 5a 00 00 00 -> 00; auth 0a 0 -> 00; pp da 01 00 00 -> 00; pp 6a -> 00 02 00 00
            == DELETE APPLICATION: by the card's key, or the application's own
            tag app; apps = 3
            da 05 00 00 -> a0; app; da 02 00 00 -> 9d; da 01 00 00 -> ae; 5a 00 00 00 -> 00; da 02 00 00 -> ae
            6a -> 00 01 00 00 02 00 00 03 00 00; auth 0a 0 -> 00; pp da 02 00 00 -> 00; pp 6a -> 00 01 00 00 03 00 00
            forget; app; auth 0a 0 -> 00; pp da 01 00 00 -> 00; forget; 6a -> 00 03 00 00
            == Lists of the NDEF application, and what may not be listed freely
            6d -> 00 01 00 00 10 e1 d2 76 00 00 85 01 01; 6a -> 00 01 00 00; app; 6f -> 00 01 02; 61 -> 00 03 e1 04 e1
            tag app; card = 0d; settings = 0d; 1 = standard 07
            45 -> ae; 6a -> ae; 6d -> ae; app; 6f -> ae; 61 -> ae; f5 01 -> ae; 45 -> ae; 5a 00 00 00 -> 00
            auth 0a 0 -> 00; pp 45 -> 00 0d 01
            == Settings and key versions of the NDEF application
            app; 45 -> 00 0f 01; 64 00 -> 00 00; f5 01 -> 00 00 00 00 e0 0f 00 00; f5 02 -> 00 00 00 e0 ee 00 10 00
            """,
            on: make
        )
    }

    @Test func `DESFire files: created, sized and deleted within the memory`() async throws {
        let value = "00 00 00 00 64 00 00 00"
        try await play(
            """
            == Each file takes its units of 32 bytes, and gives them back
            tag app; size = 2
            app; 6e -> 00 e0 08 00; cd 01 00 ee ee 20 00 00 -> 00; 6e -> 00 c0 08 00; cb 02 00 ee ee 21 00 00 -> 00
            6e -> 00 40 08 00; cc 03 00 ee ee \(value) 00*5 -> 00; 6e -> 00 20 08 00
            c1 04 00 ee ee 0a 00 00 07 00 00 -> 00; 6e -> 00 c0 07 00; c0 05 00 ee ee 01 00 00 02 00 00 -> 00
            6e -> 00 a0 07 00; df 02 -> 00; 6e -> 00 20 08 00
            ** A backup file needs its memory twice, and a file of records whole units
            tag app; size = 2
            app; cb 09 00 ee ee ff 07 00 -> 0e; cd 09 00 ee ee ff 07 00 -> 00
            app; cb 09 00 ee ee 61 04 00 -> 0e; cb 09 00 ee ee 60 04 00 -> 00
            app; c1 09 00 ee ee e1 08 00 01 00 00 -> 0e; c1 09 00 ee ee e0 08 00 01 00 00 -> 00
            app; c0 09 00 ee ee 71 04 00 02 00 00 -> 0e; c0 09 00 ee ee 70 04 00 02 00 00 -> 00
            == A file that can't be is refused
            tag app; apps = 2
            cd 02 00 ee ee 01 00 00 -> 9d; app; cd 1f 00 ee ee 01 00 00 -> 00; cd 20 00 ee ee 01 00 00 -> 9e
            cd 1f 00 ee ee 02 00 00 -> de; cd 02 03 e1 00 ee ee 01 00 00 -> 00; cd 03 03 e1 00 ee ee 01 00 00 -> de
            cd 03 00 ee ee 00 00 00 -> 9e; cd 03 00 ee ee 01 00 -> 7e; c0 03 00 ee ee 01 00 00 01 00 00 -> 9e
            cc 04 00 ee ee 01 00 00 00 04 00 00 00 04 00 00 00 00 -> 00; 6c 04 -> 00 04 00 00 00
            tag app; keys = 01
            app; cd 02 03 e1 00 ee ee 01 00 00 -> 9e
            tag app; settings = 0b
            app; cd 02 00 ee ee 01 00 00 -> ae
            == Files of records have ISO identifiers too, and values whether a limited credit is possible
            tag app
            app; c0 05 05 e1 00 ee ee 02 00 00 03 00 00 -> 00; c1 06 06 e1 00 ee ee 03 00 00 01 00 00 -> 00
            c1 07 07 e1 00 ee ee 03 00 00 01 00 -> 7e; c1 07 07 e1 00 ee ee 03 00 00 01 00 00 00 -> 7e
            61 -> 00 05 e1 06 e1; f5 05 -> 00 04 00 ee ee 02 00 00 03 00 00 00 00 00
            f5 06 -> 00 03 00 ee ee 03 00 00 01 00 00 00 00 00; cc 04 00 ee ee \(value) 0a 00 00 00 01 -> 00
            f5 04 -> 00 02 00 ee ee \(value) 00 00 00 00 01; cc 08 00 ee ee \(value) 0a 00 00 00 00 -> 00
            f5 08 -> 00 02 00 ee ee \(value) 00 00 00 00 00
            == CHANGE FILE SETTINGS: by who has the right, to what there is
            tag app; 1 = standard 00; 2 = standard 00; rights 2 = eeef; 3 = standard 00; rights 3 = eee0
            app; 5f 01 04 ee ee -> 9e; 5f 01 03 ee ee -> 00; f5 01 -> 00 00 03 ee ee 01 00 00; 5f 02 00 ee ee -> 9d
            5f 03 00 ee ee -> ae
            """,
            on: make
        )
    }

    @Test func `DESFire data: standard and backup files are read and written in frames, and committed`() async throws {
        try await play(
            """
            == Frames of 59 bytes
            tag ndef; size = 2
            app; 3d 02 00 00 00 50 00 00 a5*52 -> af; af 5a*28 -> 00; bd 02 00 00 00 50 00 00 -> af a5*52 5a*7
            af -> 00 5a*21; bd 02 ff 07 00 02 00 00 -> be; bd 03 00*6 -> f0; 3d 01 00 00 00 01 00 00 00 -> ae
            == As long as announced, and up to the end
            tag app; ev2; 1 = standard 07*100
            app; ad 01 00*6 -> 00 07*100; bd 01 00*6 -> af 07*59; af -> 00 07*41; bd 01 00*6 -> af 07*59; af 00 -> 7e
            af -> 1c; 3d 01 00 00 00 01 00 00 aa bb -> 7e; 3d 01 00*6 -> 9e; 3d 01 63 00 00 02 00 00 aa bb -> be
            3d 01 00 00 01 01 00 00 aa -> be; bd 01 63 00*5 -> 00 07; bd 01 64 00*5 -> be
            bd 01 63 00 00 02 00 00 -> be
            == The commands of EV2 are unknown to EV1, and an ISO command ends an answer in frames
            tag app; 1 = standard 07*100
            app; ad 01 00*6 -> 1c; 8d 01 00 00 00 01 00 00 aa -> 1c; bd 01 00*6 -> af 07*59
            00 b0 81 00 01 -> 07 90 00; 90 af 00 00 00 -> 91 1c
            == A backup file changes with COMMIT TRANSACTION alone
            tag app; 4 = backup 00*4
            app; 3d 04 00 00 00 02 00 00 aa bb -> 00; bd 04 00*6 -> 00 00*4; a7 -> 00; c7 -> 0c
            3d 04 01 00 00 01 00 00 cc -> 00; c7 -> 00; bd 04 00*6 -> 00 00 cc 00 00; 3d 04 00 00 00 01 00 00 aa -> 00
            3d 04 02 00 00 01 00 00 bb -> 00; c7 -> 00; bd 04 00*6 -> 00 aa cc bb 00; f5 04 -> 00 01 00 ee ee 04 00 00
            df 04 -> 00; bd 04 00*6 -> f0
            == All files of a transaction are committed, and none of one that is aborted
            tag app; 2 = backup 00; 4 = value 0 100 10
            app; 3d 02 00 00 00 01 00 00 aa -> 00; 0c 04 05 00 00 00 -> 00; a7 -> 00; c7 -> 0c; bd 02 00*6 -> 00 00
            6c 04 -> 00 0a 00 00 00; 3d 02 00 00 00 01 00 00 bb -> 00; 0c 04 06 00 00 00 -> 00; c7 -> 00
            bd 02 00*6 -> 00 bb; 6c 04 -> 00 10 00 00 00; c7 -> 0c
            == Deleting a file, a selection and a loss of power take back what was to be committed
            tag app; 1 = backup 00; 2 = backup 00; 3 = backup 00
            app; 3d 02 00 00 00 01 00 00 aa -> 00; df 01 -> 00; c7 -> 0c; bd 02 00*6 -> 00 00; bd 03 00*6 -> 00 00
            3d 02 00 00 00 01 00 00 aa -> 00; power; app; c7 -> 0c; bd 02 00*6 -> 00 00
            """,
            on: make
        )
    }

    @Test func `DESFire values and records: kept within their limits, changed by the commit, oldest record first`()
        async throws
    {
        try await play(
            """
            == A value reaches its limits, and no further
            tag app; 1 = value 0 100 50
            app; 0c 01 33 00 00 00 -> be; dc 01 33 00 00 00 -> be; 0c 01 00 00 00 80 -> 9e; dc 01 00 00 00 80 -> 9e
            c7 -> 0c; 0c 01 32 00 00 00 -> 00; 0c 01 01 00 00 00 -> be; c7 -> 00; 6c 01 -> 00 64 00 00 00
            dc 01 64 00 00 00 -> 00; dc 01 01 00 00 00 -> be; a7 -> 00; 6c 01 -> 00 64 00 00 00
            == A linear file takes as many records as it has room for, and reads no more than it has
            tag app; 1 = linear 2 2
            app; 3b 01 00 00 00 03 00 00 01 02 03 -> be; 3b 01 01 00 00 02 00 00 01 02 -> be; 3b 01 00*6 -> 9e
            c7 -> 0c; 3b 01 00 00 00 02 00 00 a1 a2 -> 00; c7 -> 00; 3b 01 01 00 00 01 00 00 b2 -> 00; c7 -> 00
            3b 01 00 00 00 02 00 00 c1 c2 -> be; c7 -> 0c; f5 01 -> 00 03 00 ee ee 02 00 00 02 00 00 02 00 00
            bb 01 00*6 -> 00 a1 a2 00 b2; bb 01 00 00 00 01 00 00 -> 00 00 b2; bb 01 01 00 00 01 00 00 -> 00 a1 a2
            bb 01 01 00 00 02 00 00 -> be; bb 01 00 00 00 03 00 00 -> be; bb 01 02 00*5 -> be; bd 01 00*6 -> 9d
            == Records are cleared by the commit, and then there is room for a new one
            tag app; 1 = linear 2 1 a1 a2
            app; eb 01 -> 00; bb 01 00*6 -> 00 a1 a2; 3b 01 00 00 00 02 00 00 b1 b2 -> 9d; c7 -> 00; bb 01 00*6 -> be
            3b 01 00 00 00 02 00 00 b1 b2 -> 00; eb 01 -> 00; 3b 01 00 00 00 01 00 00 b3 -> 9d; a7 -> 00
            3b 01 00 00 00 02 00 00 c1 c2 -> 00; c7 -> 00; bb 01 00*6 -> 00 c1 c2; eb 01 -> 00; a7 -> 00
            bb 01 00*6 -> 00 c1 c2
            == A cyclic file keeps the newest records
            tag app; 5 = cyclic 2 3
            app; 3b 05 00 00 00 02 00 00 01 01 -> 00; c7 -> 00; 3b 05 00 00 00 01 00 00 02 -> 00
            3b 05 01 00 00 01 00 00 02 -> 00; c7 -> 00; 3b 05 00 00 00 02 00 00 03 03 -> 00; c7 -> 00
            bb 05 00*6 -> 00 02 02 03 03; eb 05 -> 00; c7 -> 00; bb 05 00*6 -> be
            """,
            on: make
        )
    }

    @Test func `DESFire power cut: a command leaves the old state or the new one, after 3 or 6 ms of work`()
        async throws
    {
        let commands: [(String, Int)] = [
            ("ca 02 00 00 0f 01", 3), ("app; cd 05 00 ee ee 20 00 00", 3), ("app; cd 05 00 ee ee 21 00 00", 6),
            ("app; cc 05 00 ee ee 00*4 09 00 00 00 05 00 00 00 00", 3), ("app; c1 05 00 ee ee 01 00 00 01 00 00", 3),
            ("app; df 01", 3), ("app; 5f 01 03 ee ee", 3), ("app; 3d 01 00 00 00 01 00 00 aa", 3),
            ("app; 3d 02 00 00 00 01 00 00 aa -> 00; c7", 3), ("auth 0a 0 -> 00; pp fc", 3),
            ("auth 0a 0 -> 00; pp da 01 00 00", 3), ("auth 0a 0 -> 00; ep 54 / 0d", 3),
            ("auth 0a 0 -> 00; ep 5c 00 / 02", 3),
            ("auth 0a 0 -> 00; change 0 new own", 3), ("app; auth 0a 0 -> 00; pp da 01 00 00", 3),
        ]
        let keys = ["new": try #require(DESFireKey(.des, Array(UInt8(1)...16)))]
        for (command, milliseconds) in commands {
            for rest in ["old", "new"] {
                let stage = desfireStage(try desfire("app; 1 = standard 00; 2 = backup 00"), keys: keys)
                let parts = command.split(separator: ";").map { $0.trimmingSpaces() }
                for part in parts.dropLast() { try await stage.check(part) }
                let changed = rest == "new" ? "yes" : "no"
                let cut =
                    "mark; tear \(rest); \(parts[parts.count - 1]) -> ?; work -> \(milliseconds); changed -> \(changed)"
                try await stage.check(cut, "\(command)")
            }
        }
    }
}
