package memory

import "golang.org/x/sys/unix"

// handle is a descriptor of a memfd.
type handle int

const noFile handle = -1

// fill keeps the content in a memfd, or reports false: the system has none, or no descriptor or memory for it. Pages of
// zeros are left out of the file.
func (i *Image) fill(content []byte) bool {
	if len(content) == 0 {
		return false
	}
	fd, err := unix.MemfdCreate("wrun-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return false
	}
	if i.content, err = imageFile(fd, content); err != nil {
		_ = unix.Close(fd)
		return false
	}
	i.file = handle(fd)
	return true
}

// imageFile writes the content to an empty file, which then cannot change any more, and returns it as the file has it.
func imageFile(fd int, content []byte) ([]byte, error) {
	if err := unix.Ftruncate(fd, int64(len(content))); err != nil {
		return nil, err
	}
	for at := 0; at < len(content); at += PageSize {
		piece := content[at:min(at+PageSize, len(content))]
		if isZero(piece) {
			continue
		}
		if n, err := unix.Pwrite(fd, piece, int64(at)); err != nil || n < len(piece) {
			return nil, orFull(err)
		}
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, err
	}
	// A private mapping that is never written shows the file's own pages; older kernels refuse a shared one of a sealed file.
	return unix.Mmap(fd, 0, len(content), unix.PROT_READ, unix.MAP_PRIVATE)
}

func orFull(err error) error {
	if err == nil {
		return unix.ENOSPC // it was written in part
	}
	return err
}

func (i *Image) free() {
	if i.file == noFile {
		return
	}
	_ = unix.Munmap(i.content) // of a range that was mapped; there is nothing to do about it
	_ = unix.Close(int(i.file))
}
