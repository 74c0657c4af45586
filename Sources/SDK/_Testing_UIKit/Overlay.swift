// The toolchain asks for this module where a file imports Testing and UIKit, and has it on Apple's systems alone. What it
// adds there, images as attachments, is not here.
