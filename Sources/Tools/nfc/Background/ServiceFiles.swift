// SPDX-License-Identifier: Apache-2.0

/// The texts of the files that register the service with systemd, the bus and the desktop.
enum ServiceFiles {
    /// The systemd unit.
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
            # Apps run as units of their own. If an app is a child of the service after all, it outlives the service.
            KillMode=process

            # Limits for the service alone. The apps that it opens do not have them.
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
            # There, files of root look like another user's files, so no installed app could be trusted, and programs that
            # have a camera open can't be found.

            [Install]
            WantedBy=default.target

            """
    }

    /// The bus activation file: what the bus starts when a program calls the service. With systemd it is the unit.
    static func busFile(program: String) -> String {
        """
        # Starts nfcd when its name is called. 'nfc background enable' writes this file with the program's own path.
        [D-BUS Service]
        Name=org.opencorenfc.Background
        Exec=\(quotedForBus(program))
        SystemdService=nfcd.service

        """
    }

    /// The desktop entry that identifies the sender of the notifications. It does not appear in menus.
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

    /// A word of a command, quoted for systemd.
    private static func quoted(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$").replacing("\n", with: "\\n")
        return "\"\(text)\""
    }

    /// A word of a command, quoted for the bus, which reads it as a shell does, without variables.
    private static func quotedForBus(_ word: String) -> String {
        isPlain(word) ? word : keyFileText("'\(word.replacing("'", with: #"'\''"#))'")
    }

    /// A word of a command, quoted for a desktop, with no field code for files and links (Desktop Entry Specification,
    /// "The Exec key").
    private static func quotedForDesktop(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        var text = word.replacing("%", with: "%%")
        for character in ["\\", "\"", "`", "$"] { text = text.replacing(character, with: "\\\(character)") }
        return keyFileText("\"\(text)\"")
    }

    /// A value, escaped for the files of the bus and the desktop.
    private static func keyFileText(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// Whether a word needs no quotes for any of the programs that read a command.
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
