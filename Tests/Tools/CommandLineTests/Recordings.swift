// SPDX-License-Identifier: Apache-2.0

/// Recordings that tests replay.
enum Recordings {
    /// A MIFARE Classic on a reader that reports neither its UID nor its frames.
    static let withoutUID = """
        {"opencorenfc_recording":1,"reader":"R","kind":"discovering",\
        "technologies":["nfc-a","nfc-b","nfc-f","nfc-v"],"maximum_frame_length":256,"tells_presence":true}
        {"us":0,"do":"discover","technologies":["nfc-a","nfc-b","nfc-f","nfc-v"],"systems":["12fc","ffff"]}
        {"tag":1,"technology":"nfc-a","atqa":"0004","sak":"08","uid":"","maximum_frame_length":64}
        {"us":0,"found":1}
        {"us":0,"do":"arrival","uid":"","number":1}
        {"us":0,"do":"select","tag":1}
        {"us":0,"done":true}
        {"us":0,"do":"release"}
        {"us":0,"done":true}

        """
}
