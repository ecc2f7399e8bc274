// SPDX-License-Identifier: Apache-2.0

/// The texts of the files by which systemd and the bus start the service, and the desktop knows it.
enum ServiceFiles {
    /// The unit that systemd runs.
    static func unit(program: String, arguments: [String] = []) -> String {
        let command = ([program] + arguments).map(quoted).joined(separator: " ")
        return """
            # Reads NFC tags in the background. 'nfc background enable' writes this file with the program's own path.
            [Unit]
            Description=Background reading of NFC tags

            [Service]
            Type=dbus
            BusName=org.opencorenfc.Background
            ExecStart=\(command)
            Restart=on-failure
            RestartSec=2
            # Apps are units of their own, which systemd starts. Should one be a child all the same, it outlives the service.
            KillMode=process

            # What the service needs, and no more. The apps that it opens have none of these limits.
            UMask=0077
            LimitCORE=0
            MemoryMax=256M
            TasksMax=128
            NoNewPrivileges=yes
            LockPersonality=yes
            MemoryDenyWriteExecute=yes
            # The buses, pcscd and sessions; the sites that serve association files; the kernel, which reports that the network has
            # changed, and which the C library asks about addresses.
            RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
            RestrictNamespaces=yes
            RestrictRealtime=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            SystemCallFilter=~@privileged @resources
            SystemCallErrorNumber=EPERM
            # PrivateTmp, ProtectSystem and ProtectHome are left out: in a user's unit systemd makes a user namespace for them.
            # In one, files of root look like those of a stranger, so that no installed app could be trusted, and nobody sees
            # which program has a camera open.

            [Install]
            WantedBy=default.target

            """
    }

    /// What the bus starts when somebody calls the service; with systemd, the unit.
    static func busFile(program: String) -> String {
        """
        # Starts nfcd when its name is called. 'nfc background enable' writes this file with the program's own path.
        [D-BUS Service]
        Name=org.opencorenfc.Background
        Exec=\(quotedForBus(program))
        SystemdService=nfcd.service

        """
    }

    /// The desktop entry by which a desktop knows whose the notifications are. It is in no menu.
    static func desktopEntry(program: String) -> String {
        """
        [Desktop Entry]
        Type=Application
        Name=NFC
        Comment=Reads NFC tags in the background
        Icon=org.opencorenfc.Background
        Exec=\(quotedForDesktop(program))
        NoDisplay=true
        X-GNOME-UsesNotifications=true

        """
    }

    /// The icon of the notifications.
    static let icon = """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">
          <rect x="4" y="4" width="56" height="56" rx="13" fill="#1f6feb"/>
          <g fill="none" stroke="#ffffff" stroke-width="5" stroke-linecap="round">
            <path d="M20 25a12 12 0 0 1 0 14"/>
            <path d="M29 20a21 21 0 0 1 0 24"/>
            <path d="M38 15a30 30 0 0 1 0 34"/>
          </g>
        </svg>

        """

    /// A word of a command, as systemd reads it: nothing in it stands for something else.
    private static func quoted(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$").replacing("\n", with: "\\n")
        return "\"\(text)\""
    }

    /// A word of a command, as the bus reads it: as a shell does, without variables.
    private static func quotedForBus(_ word: String) -> String {
        isPlain(word) ? word : keyFileText("'\(word.replacing("'", with: #"'\''"#))'")
    }

    /// A word of a command, as a desktop reads it: quoted, and with no sign for files and links (Desktop Entry Specification,
    /// "The Exec key").
    private static func quotedForDesktop(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        var text = word.replacing("%", with: "%%")
        for character in ["\\", "\"", "`", "$"] { text = text.replacing(character, with: "\\\(character)") }
        return keyFileText("\"\(text)\"")
    }

    /// A value as it stands in the files of the bus and the desktop.
    private static func keyFileText(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// Whether nobody who reads a command takes anything in a word for something else.
    private static func isPlain(_ word: String) -> Bool {
        !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B...0x2F, 0x3A, 0x3D, 0x40, 0x5F: true
                default: false
                }
            }
    }
}
